// The workbench: layer normalization of a vector the reader types, computed in the browser as lnbook computes it.
// tests/site/test_workbench.py holds it against lnbook to 1e-12. The page's text lives in book/workbench.md.
"use strict";

const workbench = (() => {
  const SMALL = 64; // up to here the norm with gain comes from the matrix itself

  // ---- Numbers -----------------------------------------------------------------------------------------------------

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
    const root = outside
      ? Math.sqrt(square) + scale(eps, -common)
      : Math.sqrt(square + scale(eps, -2 * common));
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
    if (d === 2) return most * share * Math.hypot(g[0], g[1]) / Math.SQRT2;
    const squares = g.map((x) => x * x);
    const a = g.map((x) => x / Math.sqrt(d));
    const b = g.map((x, i) => x * u[i] * Math.sqrt((1 + share) / d));
    const someAbove = (x) => {
      let [above, aa, ab, bb] = [0, 1, 0, 1];
      for (let i = 0; i < d; i += 1) {
        const gap = squares[i] - x || Number.EPSILON * x;
        if (gap > 0) above += 1;
        aa -= a[i] * a[i] / gap;
        ab -= a[i] * b[i] / gap;
        bb -= b[i] * b[i] / gap;
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
      if (someAbove(middle)) low = middle; else high = middle;
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
    return most * inverse * matrixNorm(jacobian({ u, inverse: 1 }, gain.map((x) => x / most)));
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
      bound: gain && d > 1 ? gainNorm(gain, u.map(() => 0), 1) / Math.sqrt(eps) : coreBound,
    };
  };

  // What each convention makes of z: { inside, sample, centered, plusOne, y }, those that give no number left out.
  const conventions = (z, eps, gain = null, bias = null) => {
    const found = [];
    const raw = exponent(largest(z));
    for (const centered of [true, false]) {
      const { v, exponent: e } = centered ? center(z) : { v: z.map((x) => scale(x, -raw)), exponent: raw };
      for (const sample of [false, true]) {
        for (const inside of [true, false]) {
          const { u } = divide(v, e, eps, z.length - sample, !inside);
          for (const plusOne of gain ? [false, true] : [false]) {
            const y = u.map((x, i) => ((gain ? gain[i] : 1) + plusOne) * x + (bias ? bias[i] : 0));
            if (y.every(Number.isFinite)) found.push({ inside, sample, centered, plusOne, y });
          }
        }
      }
    }
    return found;
  };

  // The conventions that agree with the numbers of `output` as far as these were written, and the nearest of all.
  // `place` is the last place that was written, such as 1e-4, or 0 for whole numbers. Digits beyond float32 count where they are not float32's.
  const match = (candidates, output, place) => {
    const single = place > 1e-11 * largest(output) || output.every((x) => Math.fround(x) === x);
    const measured = candidates.map((candidate) => {
      const error = largest(candidate.y.map((x, i) => x - output[i]));
      const rounding = (single ? 1e-6 : 1e-13) * largest(candidate.y);
      return { ...candidate, error, fits: error <= 0.5 * place + rounding };
    });
    measured.sort((a, b) => a.error - b.error);
    return { matches: measured.filter((candidate) => candidate.fits), nearest: measured[0] };
  };

  const conventionName = ({ inside, sample, centered, plusOne }) => {
    const parts = [
      centered ? "centred" : "not centred (as RMSNorm)",
      `divisor ${sample ? "d − 1" : "d"}`,
      inside ? "ε inside the root" : "ε added outside the root",
    ];
    if (plusOne) parts.push("gain read as 1 + the given gain");
    return parts.join(", ");
  };

  // ---- Reading what was typed --------------------------------------------------------------------------------------

  const NUMBER = /^([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+(?:\.\d*)?))?$/i;

  // { values, place } of a print-out, place being that of the last digit written; throws a message for the reader.
  const parse = (text) => {
    const plain = text
      .replace(/[−–]/g, "-")
      .replace(/\bgrad_fn\s*=\s*<[^>]*>/g, " ")
      .replace(/<tf\.Tensor:|\bnumpy\s*=|>/g, " ")
      .replace(/\b(dtype|device|requires_grad|layout|shape|size)\s*=\s*(\([^)]*\)|'[^']*'|"[^"]*"|[\w.:]*)/g, " ")
      .replace(/Parameter containing:/g, " ")
      .replace(/\b(?:np|numpy|torch|jnp|tf|mx)\.(?=[a-zA-Z])/g, "")
      .replace(/\b(?:array|tensor|Array|Tensor|Parameter|asarray|float16|float32|float64|bfloat16)\b/g, " ");
    if (/\.\.\.|…/.test(plain)) {
      throw new Error("Entries are left out (…): print the vector in full, for instance with numpy.set_printoptions(threshold=10**6) or torch.set_printoptions(profile=\"full\").");
    }
    const rows = plain.split(/[\])}]/).filter((row) => /\d/.test(row));
    if (rows.length > 1 && /[[({]/.test(plain)) {
      const numberEach = rows.every((row) => row.split(/[\s,;[({]+/).filter(Boolean).length === 1);
      if (!numberEach) throw new Error(`These are ${rows.length} rows; the workbench takes one vector. Keep one row.`);
    }
    const words = plain.replace(/[[\](){},;]/g, " ").trim().split(/\s+/).filter(Boolean);
    const values = [];
    let place = Infinity;
    words.forEach((word, position) => {
      const found = NUMBER.exec(word);
      if (!found) {
        const hint = /^[+-]?(nan|inf|infinity)$/i.test(word) ? "is not finite" : "is not a number";
        throw new Error(`“${word}” (entry ${position + 1}) ${hint}.`);
      }
      const digits = found[1].replace(/_/g, "").toLowerCase();
      const value = Number(digits) / (found[2] ? Number(found[2]) : 1);
      if (!Number.isFinite(value)) throw new Error(`“${word}” (entry ${position + 1}) is larger than a float can be.`);
      const [mantissa, power = "0"] = digits.split("e");
      const decimals = (mantissa.split(".")[1] ?? "").length;
      values.push(value);
      if (decimals && !found[2]) place = Math.min(place, 10 ** (Number(power) - decimals));
    });
    return { values, place: Number.isFinite(place) ? place : 0 };
  };

  const parseVector = (text, length = null) => {
    const { values, place } = parse(text);
    if (length !== null && values.length !== length) {
      throw new Error(`${values.length} ${values.length === 1 ? "number" : "numbers"} here, but z has ${length}.`);
    }
    return { values, place };
  };

  const parseNumber = (text, name) => {
    const { values } = parse(text);
    if (values.length !== 1) throw new Error(`${name} must be one number, and here are ${values.length}.`);
    return values[0];
  };

  return { compute, jacobian, conventions, match, conventionName, parse, parseVector, parseNumber, largest };
})();

// ---- The page ------------------------------------------------------------------------------------------------------

const workbenchPage = (place) => {
  const SHOWN = 16; // rows of the table and of the heat map

  const FIELDS = [
    { name: "z", label: "z, the vector", rows: 2, start: "1, 1, -2", help: "Numbers, or a print-out of Python, NumPy or PyTorch." },
    { name: "eps", label: "ε", start: "2", help: "As PyTorch’s eps; 1e-5 is its default." },
    { name: "gain", label: "γ, the gain", rows: 1, start: "2, 0, -1", help: "Left empty: 1 for each entry. One number stands for all." },
    { name: "bias", label: "β, the bias", rows: 1, start: "", help: "Left empty: 0 for each entry. One number stands for all." },
    { name: "shift", label: "c, a common shift", start: "", help: "Added to all entries of z." },
    { name: "output", label: "Output of your own layer", rows: 2, start: "", help: "For this z; tells which convention makes it." },
  ];

  const EXAMPLES = {
    "gain that turns a sign": { z: "1, 1, -2", eps: "2", gain: "2, 0, -1" },
    "constant input": { z: "3, 3, 3", eps: "1e-5", bias: "1, -1, 2" },
    "whose convention?": { z: "1, 0, 0, 0", eps: "1e-5", output: "tensor([ 1.5000, -0.5000, -0.5000, -0.5000])" },
    "far from zero": { z: "99999999, 100000000, 100000001, 100000002", eps: "1e-5", shift: "0.5" },
  };

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...children);
    return made;
  };

  // Seven significant digits, as text; the minus sign is a minus sign.
  const show = (x, digits = 7) => {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "not a number" : x > 0 ? "∞" : "−∞";
    const rounded = Number(x.toPrecision(digits));
    const plain = rounded === 0 || (Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e9);
    return String(plain ? rounded : rounded.toExponential()).replaceAll("-", "−").replace("e+", "e");
  };

  const table = (caption, heads, rows) => {
    const row = (cells, tag) => element("tr", {}, ...cells.map((cell, i) =>
      cell !== "" && (i === 0 || tag === "th")
        ? element("th", { scope: tag === "th" ? "col" : "row" }, cell)
        : element("td", {}, cell)));
    return element("div", { class: "wb-scroll", role: "group", "aria-label": caption },
      element("table", {}, element("caption", {}, caption),
        element("thead", {}, row(heads, "th")), element("tbody", {}, ...rows.map((cells) => row(cells, "td")))));
  };

  const section = (title, ...children) => element("section", {}, element("h3", {}, title), ...children);
  const paragraph = (...words) => element("p", {}, ...words);

  const more = (d) => d > SHOWN ? [paragraph(`The first ${SHOWN} of ${d} entries; all of them are in the output below.`)] : [];

  const vectors = (z, result) => section("Mean, variance, core, output",
    table("Statistics", ["what", "value"], [
      ["mean μ", show(result.mean)],
      ["variance q, divisor d", show(result.variance)],
      ["variance of the core, q/(q+ε)", show(result.coreVariance)],
    ]),
    table("Coordinate by coordinate", ["i", "z", "centred", "core u", "output y"],
      z.slice(0, SHOWN).map((x, i) => [i + 1, x, result.centered[i], result.u[i], result.y[i]].map((n) => show(n)))),
    ...more(z.length),
    element("details", {}, element("summary", {}, "The output in full, to copy"),
      element("pre", { tabindex: "0" }, `[${result.y.join(", ")}]`)));

  // The strength of the colour is the entry's share of the largest; the number in the cell says the same in words.
  const heatMap = (result, gain) => {
    const d = result.u.length;
    if (d > SHOWN) return paragraph(`The Jacobian has ${d} × ${d} entries; it is drawn up to ${SHOWN} × ${SHOWN}.`);
    const J = workbench.jacobian(result, gain);
    const most = workbench.largest(J.flat()) || 1;
    const heads = ["output", ...J.map((_, j) => `by z${j + 1}`)];
    const made = table(`Jacobian of the ${gain ? "full layer, diag(γ)J" : "core, J"}: row i, column j is ∂y by ∂z`, heads,
      J.map((row, i) => [`y${i + 1}`, ...row.map((x) => show(x, 4))]));
    made.querySelectorAll("td").forEach((cell, k) => {
      const x = J[Math.floor(k / d)][k % d];
      cell.className = x < 0 ? "wb-negative" : "wb-positive";
      cell.style.setProperty("--share", `${Math.round(45 * Math.abs(x) / most)}%`);
    });
    made.classList.add("wb-heat");
    return made;
  };

  const derivative = (result, gain, eps) => {
    const names = ["along 1, a common shift", "along the centred vector", "across both"];
    const normRow = (name, norm, bound) =>
      [name, show(norm), show(bound), bound ? `${show(100 * norm / bound, 3)} %` : "0 %"];
    const norms = [normRow("core", result.coreNorm, result.coreBound)];
    if (gain) norms.push(normRow("full layer", result.norm, result.bound));
    return section("Jacobian and bound", heatMap(result, gain),
      table("Eigenvalues of the core’s Jacobian J", ["direction", "eigenvalue", "how often"],
        names.map((name, k) => [name, show(result.eigenvalues[k]), String(result.multiplicities[k])])
          .filter((_, k) => result.multiplicities[k] > 0)),
      table("Operator norm: the largest first-order amplification", ["of the", "here", "at most", "share"], norms),
      ...eps === 0 ? [paragraph("At ε = 0 there is no bound: the layer is not Lipschitz.")] : []);
  };

  const shifted = (z, eps, gain, bias, before, c) => {
    const moved = z.map((x) => x + c);
    if (!moved.every(Number.isFinite)) return paragraph("z + c leaves the range of floats.");
    const after = workbench.compute(moved, eps, gain, bias);
    const change = workbench.largest(after.y.map((y, i) => y - before.y[i]));
    const lost = workbench.largest(moved.map((x, i) => (x - c) - z[i]));
    return section(`A common shift by ${show(c)}`,
      table("Before and after", ["what", "z", "z + c1"], [
        ["mean", show(before.mean), show(after.mean)],
        ["variance", show(before.variance), show(after.variance)],
        ...before.y.slice(0, SHOWN).map((y, i) => [`y${i + 1}`, show(y), show(after.y[i])]),
      ]),
      paragraph(change === 0 ? "The output is the same to the last bit."
        : `The largest change of an output is ${show(change, 2)}. In exact arithmetic it is 0: `
          + (lost > 0 ? "z + c had to be rounded to floats, and the change is what that rounding took from z."
            : "this is rounding.")));
  };

  const ownLayer = (z, eps, gain, bias, { values, place }) => {
    const candidates = workbench.conventions(z, eps, gain, bias);
    if (!candidates.length) return section("Your own layer", paragraph("No convention gives a number for this z and ε."));
    const { matches, nearest } = workbench.match(candidates, values, place);
    if (!matches.length) {
      return section("Your own layer",
        paragraph(element("strong", {}, "None of the conventions makes this output."),
          ` The nearest is: ${workbench.conventionName(nearest)}; it is off by up to ${show(nearest.error, 3)}. `,
          "Another ε, gain or bias than given above, or less precise arithmetic, would do that."));
    }
    const names = matches.map((match) => element("li", {}, workbench.conventionName(match),
      match.centered && match.inside && !match.sample && !match.plusOne ? ": the convention of this book and of PyTorch" : ""));
    return section("Your own layer",
      paragraph(element("strong", {}, matches.length === 1
        ? "One convention makes this output:"
        : `${matches.length} conventions make this output, to the digits given; another z or ε can tell them apart:`)),
      element("ul", {}, ...names));
  };

  // ---- State: what was typed, kept in the address

  const inputs = {};
  const errors = {};
  const results = element("div", { class: "wb-results" });
  const status = element("p", { role: "status" });
  let written = null;

  const readAddress = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (location.hash === written || !FIELDS.some(({ name }) => given.has(name))) return false;
    FIELDS.forEach(({ name }) => { inputs[name].value = given.get(name) ?? ""; });
    return true;
  };

  const writeAddress = () => {
    const state = new URLSearchParams();
    FIELDS.forEach(({ name }) => { if (inputs[name].value.trim()) state.set(name, inputs[name].value.trim()); });
    written = `#${state}`;
    history.replaceState(null, "", written);
  };

  // The value of a field by `read`, or undefined with the reason shown beside the field.
  const valueOf = (name, read) => {
    let [value, reason] = [undefined, ""];
    try {
      value = read(inputs[name].value);
    } catch (error) {
      reason = error.message;
    }
    errors[name].textContent = reason;
    inputs[name].setAttribute("aria-invalid", String(Boolean(reason)));
    return value;
  };

  const optional = (read) => (text) => text.trim() ? read(text) : null;

  const perEntry = (d) => optional((text) => {
    const { values } = workbench.parse(text);
    return values.length === 1 ? Array(d).fill(values[0]) : workbench.parseVector(text, d).values;
  });

  // A box that scrolls must be within reach of the keyboard, one that does not would only be in its way.
  const reachBoxes = () => results.querySelectorAll(".wb-scroll").forEach((box) => {
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  });

  const update = () => {
    const z = valueOf("z", (text) => {
      const { values } = workbench.parse(text);
      if (!values.length) throw new Error("Give at least one number.");
      return values;
    });
    const eps = valueOf("eps", (text) => {
      const value = workbench.parseNumber(text, "ε");
      if (value < 0) throw new Error("ε must not be negative.");
      return value;
    });
    const shift = valueOf("shift", optional((text) => workbench.parseNumber(text, "c")));
    const d = z?.length ?? null;
    const gain = valueOf("gain", perEntry(d ?? 1));
    const bias = valueOf("bias", perEntry(d ?? 1));
    const output = valueOf("output", optional((text) => workbench.parseVector(text, d)));
    if ([z, eps, gain, bias].includes(undefined)) {
      results.replaceChildren(paragraph("The results wait for the field marked above."));
      status.textContent = "";
      return;
    }
    try {
      const result = workbench.compute(z, eps, gain, bias);
      results.replaceChildren(vectors(z, result), derivative(result, gain, eps),
        ...(shift ?? null) === null ? [] : [shifted(z, eps, gain, bias, result, shift)],
        ...(output ?? null) === null ? [] : [ownLayer(z, eps, gain, bias, output)]);
      status.textContent = `d = ${d}, mean ${show(result.mean, 4)}, variance ${show(result.variance, 4)}, `
        + `operator norm ${show(result.norm, 4)}, bound ${show(result.bound, 4)}.`;
      reachBoxes();
    } catch (error) {
      errors.eps.textContent = error.message;
      inputs.eps.setAttribute("aria-invalid", "true");
      results.replaceChildren(paragraph("The results wait for the field marked above."));
      status.textContent = "";
    }
  };

  const form = element("form", { class: "wb-form", autocomplete: "off" });
  form.addEventListener("submit", (event) => event.preventDefault());
  let waiting = 0;
  FIELDS.forEach(({ name, label, rows, start, help }) => {
    const attributes = { id: `wb-${name}`, spellcheck: "false", "aria-describedby": `wb-${name}-help wb-${name}-error` };
    const input = rows ? element("textarea", { ...attributes, rows }) : element("input", { ...attributes, type: "text" });
    input.value = start;
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      // Browsers allow about a hundred changes of the address in half a minute.
      waiting = setTimeout(() => { update(); writeAddress(); }, 310);
    });
    inputs[name] = input;
    errors[name] = element("p", { id: `wb-${name}-error`, class: "wb-error", "aria-live": "polite" });
    form.append(element("div", { class: `wb-field wb-field-${name}` }, element("label", { for: `wb-${name}` }, label), input,
      element("p", { id: `wb-${name}-help`, class: "wb-help" }, help), errors[name]));
  });
  const buttons = Object.entries(EXAMPLES).map(([name, values]) => {
    const button = element("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      FIELDS.forEach((field) => { inputs[field.name].value = values[field.name] ?? ""; });
      update();
      writeAddress();
    });
    return button;
  });
  place.replaceChildren(element("p", { class: "wb-examples" }, "Try: ", ...buttons), form, status, results);
  window.addEventListener("resize", reachBoxes);
  window.addEventListener("hashchange", () => { if (readAddress()) update(); });
  readAddress();
  update();
};

document.addEventListener("DOMContentLoaded", () => {
  const place = document.getElementById("workbench");
  if (place) workbenchPage(place);
});
