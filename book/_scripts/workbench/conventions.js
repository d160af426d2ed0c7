// The layer put together of parts, each with the mistakes that replace it: as lnbook.conformance.models, and with the
// names of its catalogue. An output is a ⊙ v s + c, where v is the numerator and s = 1 / root, row by row.
{
  const { center, exponent, largest, round, scale } = workbench;

  const mean = (a) => a.reduce((total, x) => total + x, 0) / a.length;
  const meanSquare = (a) => mean(a.map((x) => x * x));
  const centered = (row) => {
    const { v, exponent: e } = center(row);
    return v.map((x) => scale(x, e));
  };
  const columnsOf = (rows) => rows[0].map((_, j) => rows.map((row) => row[j]));
  const filled = (rows, x) => rows.map((row) => row.map(() => x));

  // ---- Statistics: rows -> { v, q, count }, for each row its numerator, its variances (one, or one for each entry), and
  // how many entries were averaged.

  const byRow = (numerator, variance) => (rows) =>
    rows.map((row) => ({ v: numerator(row), q: [variance(row)], count: row.length }));
  const identity = (row) => row;
  const variance = (row) => meanSquare(centered(row));

  const overAll = (rows) => {
    const all = rows.flat();
    const v = centered(all);
    const d = rows[0].length;
    return rows.map((_, i) => ({ v: v.slice(i * d, (i + 1) * d), q: [meanSquare(v)], count: all.length }));
  };
  const overColumns = (rows) => {
    const columns = columnsOf(rows).map(centered);
    const q = columns.map(meanSquare);
    return rows.map((_, i) => ({ v: columns.map((column) => column[i]), q, count: rows.length }));
  };

  // Mean, differences, squares and their mean, each rounded. A square beyond the range makes the variance infinite.
  const inHalf = (format) =>
    byRow(
      (row) => row.map((x) => round(x - round(mean(row), format), format)),
      (row) => {
        const squares = row.map((x) => round(round(x - round(mean(row), format), format) ** 2, format));
        return round(mean(squares), format);
      },
    );

  const HALF = "the statistics are computed in half precision";
  const RMS = "not centred, as in RMSNorm";
  const AXES = "normalized over the wrong axes";
  const STATISTICS = [
    { of: byRow(centered, variance) },
    { name: RMS, of: byRow(identity, meanSquare) },
    { name: RMS, detail: "the variance about 0, the numerator centred", of: byRow(centered, meanSquare) },
    { name: RMS, detail: "in the numerator only", of: byRow(identity, variance) },
    { name: AXES, detail: "all of them", of: overAll, many: true },
    { name: AXES, detail: "the first", of: overColumns, many: true },
    { name: HALF, detail: "float16", of: inHalf("float16") },
    { name: HALF, detail: "bfloat16", of: inHalf("bfloat16") },
  ];

  const DIVISORS = [
    { of: (q) => q },
    { name: "the variance is divided by d - 1, not d", of: (q, count) => (q * count) / (count - 1) },
  ];

  // ---- Roots: the variance, epsilon and the numerator -> what the numerator is divided by.

  const scaledRoot = (q, eps, by) => by * Math.sqrt(q / by ** 2 + eps);
  const ROUNDED_EPS = "eps is rounded to half precision, in which a small one is zero";
  const SUMMED = "eps is added to a sum, not to a mean of squares";
  const SCALED = "eps is added after z was divided by a scale";
  const MOST = "max(q, eps) in place of q + eps";
  const roundedEps = (format) => ({
    name: ROUNDED_EPS,
    detail: format,
    of: (q, eps) => Math.sqrt(q + round(eps, format)),
    changes: (eps) => round(eps, format) !== eps,
  });
  const ROOTS = [
    { of: (q, eps) => Math.sqrt(q + eps) },
    { name: "eps is outside the root", of: (q, eps) => Math.sqrt(q) + eps },
    { name: MOST, of: (q, eps) => Math.sqrt(Math.max(q, eps)) },
    { name: MOST, detail: "of the root", of: (q, eps) => Math.max(Math.sqrt(q), eps) },
    { name: "eps is squared", of: (q, eps) => Math.sqrt(q + eps ** 2) },
    { name: "eps is missing", of: (q) => Math.sqrt(q) },
    { name: SUMMED, detail: "divided by d after it was added", of: (q, eps, v) => Math.sqrt(q + eps / v.length) },
    { name: SUMMED, detail: "to a sum that d has yet to divide", of: (q, eps, v) => Math.sqrt(q + eps * v.length) },
    { name: SCALED, detail: "by max|z - mean|", of: (q, eps, v) => scaledRoot(q, eps, largest(v) || 1) },
    {
      name: SCALED,
      detail: "by the next power of two",
      of: (q, eps, v) => scaledRoot(q, eps, largest(v) ? 2 ** exponent(largest(v)) : 1),
    },
    roundedEps("float16"),
    roundedEps("bfloat16"),
  ];

  const OTHER_EPS = "eps is hard-coded";
  const USUAL_EPS = [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10, 1e-12, 1e-15, 2 ** -23, 2 ** -52];

  // ---- What is done with the core: gain and bias at row i and column j -> [a, c]. `square` needs as many rows as columns.

  const AFFINE = [
    { of: (g, b, i, j) => [g[j], b[j]] },
    { name: "the gain is dropped", of: (g, b, i, j) => [1, b[j]] },
    { name: "the bias is dropped", of: (g, b, i, j) => [g[j], 0] },
    { name: "gain and bias are dropped", of: () => [1, 0] },
    { name: "gain and bias are swapped", of: (g, b, i, j) => [b[j], g[j]] },
    { name: "the stored gain is taken for gain - 1", of: (g, b, i, j) => [1 + g[j], b[j]] },
    { name: "1 is missing: the gain is stored less 1", of: (g, b, i, j) => [g[j] - 1, b[j]] },
    { name: "the bias is added before the gain multiplies", of: (g, b, i, j) => [g[j], g[j] * b[j]] },
    { name: "the bias is subtracted", of: (g, b, i, j) => [g[j], -b[j]] },
    { name: "the gain is on the wrong axis", square: true, of: (g, b, i, j) => [g[i], b[j]] },
    { name: "the bias is on the wrong axis", square: true, of: (g, b, i, j) => [g[j], b[i]] },
    { name: "gain and bias are on the wrong axis", square: true, of: (g, b, i) => [g[i], b[i]] },
    { name: "one entry of gain or bias is used for all", detail: "the first gain", of: (g, b, i, j) => [g[0], b[j]] },
    { name: "one entry of gain or bias is used for all", detail: "the first bias", of: (g, b, i, j) => [g[j], b[0]] },
  ];

  // The maps of the core that are not the right one at these parameters.
  // `blurs` are how far a and c may be off where gain and bias are those of a print-out.
  const affineMaps = ({ rows, gain, bias, blur }) => {
    const d = rows[0].length;
    const [g, b] = [gain ?? Array(d).fill(1), bias ?? Array(d).fill(0)];
    const [least, most] = [0, 1].map((k) => [
      g.map((x) => Math.abs(x) + k * blur.gain),
      b.map((x) => Math.abs(x) + k * blur.bias),
    ]);
    const square = rows.length === d && d > 1;
    const maps = AFFINE.filter((map) => square || !map.square).map((map) => {
      const at = (gains, biases) => rows.map((row, i) => row.map((_, j) => map.of(gains, biases, i, j)));
      const [pairs, low, high] = [at(g, b), at(...least), at(...most)];
      const blurs = pairs.map((row, i) => row.map((_, j) => [0, 1].map((k) => Math.abs(high[i][j][k] - low[i][j][k]))));
      return { ...map, pairs, blurs, key: JSON.stringify(pairs) };
    });
    return maps.filter(({ name, key }) => !name || key !== maps[0].key);
  };

  const statisticsOf = ({ rows }) => STATISTICS.filter(({ many }) => !many || rows.length > 1);

  // y of one choice { statistics, divisor, root, affine }; the part that is not chosen is the right one.
  const outputOf = (
    problem,
    { statistics = STATISTICS[0], divisor = DIVISORS[0], root = ROOTS[0], affine = AFFINE[0] },
  ) => {
    const { rows, eps } = problem;
    const d = rows[0].length;
    const [g, b] = [problem.gain ?? Array(d).fill(1), problem.bias ?? Array(d).fill(0)];
    return statistics.of(rows).map(({ v, q, count }, i) =>
      v.map((x, j) => {
        const [a, c] = affine.of(g, b, i, j);
        return (a * x) / root.of(divisor.of(q[q.length === 1 ? 0 : j], count), eps, v) + c;
      }),
    );
  };

  // As one writes an epsilon: 1e-5, not 0.00001.
  const writtenEps = (value) => {
    const short = USUAL_EPS.includes(value) ? Number(value.toPrecision(4)) : value;
    return short > 0 && short < 1e-2 ? short.toExponential() : String(short);
  };
  const hardCoded = (value) => ({
    name: OTHER_EPS,
    before: "agrees with eps = ",
    detail: writtenEps(value),
    of: (q) => Math.sqrt(q + value),
  });

  Object.assign(workbench, {
    ...{ AFFINE, DIVISORS, HALF, OTHER_EPS, ROOTS, STATISTICS, USUAL_EPS },
    ...{ affineMaps, filled, hardCoded, outputOf, statisticsOf, writtenEps },
  });
}
