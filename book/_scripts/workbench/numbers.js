// The workbench: layer normalization of a vector the reader types, computed in the browser as lnbook computes it.
// tests/site/test_workbench.py holds it against lnbook to 1e-12. The page's text lives in book/workbench.md.
const workbench = {};
{
  const SMALL = 64; // up to here the norm with gain comes from the matrix itself

  const sum = (a) => a.reduce((total, x) => total + x, 0);
  const dot = (a, b) => a.reduce((total, x, i) => total + x * b[i], 0);
  const largest = (a) => a.reduce((most, x) => Math.max(most, Math.abs(x)), 0);

  // x * 2**e, in two steps so that no factor leaves the range of floats.
  const scale = (x, e) => {
    if (x === 0) return 0;
    const half = Math.trunc(e / 2);
    return x * 2 ** half * 2 ** (e - half);
  };

  // The least integer e with |x| < 2**e; below all others for 0, which sets no scale.
  const exponent = (x) => {
    if (x === 0) return -5000;
    let e = Math.min(1024, Math.floor(Math.log2(x)) + 1);
    if (scale(1, e - 1) > x) e -= 1;
    return e === 1024 || scale(1, e) > x ? e : e + 1;
  };

  // mean and v = z - mean, both with a power of two taken out: the mean is mean * 2**first, v is v * 2**exponent.
  // Centred twice: the first mean leaves a rest where the offset is large, the second takes it.
  const center = (z) => {
    const d = z.length;
    const first = exponent(largest(z));
    const scaled = z.map((x) => scale(x, -first));
    const mean = sum(scaled) / d;
    let v = scaled.map((x) => x - mean);
    const rest = sum(v) / d;
    v = v.map((x) => x - rest);
    const second = exponent(largest(v));
    return { mean: scale(mean + rest, first), v: v.map((x) => scale(x, -second)), exponent: first + second };
  };

  // v / sqrt(sum(v * v) / divisor + eps), or with eps added outside the root; v in units of 2**exponent.
  const divide = (v, vExponent, eps, divisor, outside) => {
    const common = Math.max(vExponent, exponent(outside ? eps : Math.sqrt(eps)));
    const inUnits = v.map((x) => scale(x, vExponent - common));
    const square = dot(inUnits, inUnits) / divisor;
    const root = outside ? Math.sqrt(square) + scale(eps, -common) : Math.sqrt(square + scale(eps, -2 * common));
    return { u: inUnits.map((x) => x / root), inverse: scale(1 / root, -common), root };
  };

  // The largest singular value of diag(gain) (P - (1 - share) w w'), where w is the unit vector along u and
  // |u|^2 / d = 1 - share. Its square is the largest eigenvalue of diag(gain^2) - W W' with two columns in W. By the law
  // of inertia the number of eigenvalues above x follows from a 2 x 2 matrix, so bisection finds the largest in O(d).
  const gainNorm = (gain, u, share) => {
    const d = gain.length;
    const most = largest(gain);
    if (d === 1 || most === 0) return 0;
    const g = gain.map((x) => x / most);
    if (d === 2) return (most * share * Math.hypot(g[0], g[1])) / Math.SQRT2;
    const squares = g.map((x) => x * x);
    const a = g.map((x) => x / Math.sqrt(d));
    const b = g.map((x, i) => x * u[i] * Math.sqrt((1 + share) / d));
    const someAbove = (x) => {
      let [above, aa, ab, bb] = [0, 1, 0, 1];
      for (let i = 0; i < d; i += 1) {
        const gap = squares[i] - x || Number.EPSILON * x;
        if (gap > 0) above += 1;
        aa -= (a[i] * a[i]) / gap;
        ab -= (a[i] * b[i]) / gap;
        bb -= (b[i] * b[i]) / gap;
      }
      const determinant = aa * bb - ab * ab;
      const positive = determinant < 0 ? 1 : aa + bb > 0 ? 2 : 0;
      return above + positive - 2 >= 1;
    };
    const sorted = [...squares].sort((x, y) => y - x);
    let [low, high] = [sorted[2], sorted[0]];
    for (let step = 0; step < 200; step += 1) {
      const middle = (low + high) / 2;
      if (!(low < middle && middle < high)) break;
      if (someAbove(middle)) low = middle;
      else high = middle;
    }
    return most * Math.sqrt(high);
  };

  const jacobian = ({ u, inverse }, gain = null) =>
    u.map((a, i) => u.map((b, j) => (gain ? gain[i] : 1) * inverse * ((i === j) - (1 + a * b) / u.length)));

  // The largest singular value of a square matrix, by rotating pairs of its rows until all are orthogonal (Hestenes).
  // It squares no matrix, so it is right even where two strong gains meet directions that J almost removes.
  const matrixNorm = (matrix) => {
    const rows = matrix.map((row) => [...row]);
    for (let turned = true, sweep = 0; turned && sweep < 60; sweep += 1) {
      turned = false;
      for (let i = 0; i < rows.length; i += 1) {
        for (let j = i + 1; j < rows.length; j += 1) {
          const [p, q, r] = [dot(rows[i], rows[i]), dot(rows[j], rows[j]), dot(rows[i], rows[j])];
          if (Math.abs(r) <= 1e-15 * Math.sqrt(p * q)) continue;
          turned = true;
          const zeta = (q - p) / (2 * r);
          const t = (zeta < 0 ? -1 : 1) / (Math.abs(zeta) + Math.hypot(1, zeta));
          const c = 1 / Math.hypot(1, t);
          const first = rows[i].map((x, k) => c * (x - t * rows[j][k]));
          rows[j] = rows[j].map((x, k) => c * (t * rows[i][k] + x));
          rows[i] = first;
        }
      }
    }
    return Math.max(...rows.map((row) => Math.hypot(...row)));
  };

  const normWithGain = (u, inverse, share, gain) => {
    const d = u.length;
    if (d === 2 || d > SMALL) return inverse * gainNorm(gain, u, share);
    const most = largest(gain) || 1;
    return (
      most *
      inverse *
      matrixNorm(
        jacobian(
          { u, inverse: 1 },
          gain.map((x) => x / most),
        ),
      )
    );
  };

  // All that the workbench shows about z; gain and bias may be null. Throws a message for the reader.
  const compute = (z, eps, gain = null, bias = null) => {
    const d = z.length;
    const { mean, v, exponent: e } = center(z);
    const constant = v.every((x) => x === 0);
    if (constant && eps === 0) throw new Error("At ε = 0 the core of a constant vector is 0/0: give a positive ε.");
    const { u, inverse } = divide(v, e, eps, d, false);
    const share = constant ? 1 : eps * inverse * inverse; // ε / (q + ε)
    const [radial, rest] = [inverse * share, inverse];
    const coreNorm = d === 1 ? 0 : d === 2 ? radial : rest;
    const coreBound = d === 1 ? 0 : 1 / Math.sqrt(eps);
    return {
      mean,
      variance: scale(dot(v, v) / d, 2 * e),
      centered: v.map((x) => scale(x, e)),
      u,
      coreVariance: dot(u, u) / d,
      y: u.map((x, i) => (gain ? gain[i] : 1) * x + (bias ? bias[i] : 0)),
      inverse,
      eigenvalues: [0, radial, rest],
      multiplicities: constant ? [1, 0, d - 1] : [1, 1, d - 2],
      coreNorm,
      norm: gain ? normWithGain(u, inverse, share, gain) : coreNorm,
      coreBound,
      bound:
        gain && d > 1
          ? gainNorm(
              gain,
              u.map(() => 0),
              1,
            ) / Math.sqrt(eps)
          : coreBound,
    };
  };

  Object.assign(workbench, { center, compute, divide, exponent, jacobian, largest, scale });
}
