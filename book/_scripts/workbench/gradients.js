// The gradients of the layer put together of parts, each with the mistakes that replace it: as lnbook.conformance.models
// and its gradient_mistakes, row by row. h is gain times g, u the core, r the root.
{
  const { FORMATS, largest, STATISTICS, USUAL_EPS } = workbench;
  const FIELDS = ["dz", "dgain", "dbias"];

  const mean = (a) => a.reduce((total, x) => total + x, 0) / a.length;
  const times = (a, b) => a.map((x, j) => x * b[j]);
  const columnSums = (rows) => rows[0].map((_, j) => rows.reduce((total, row) => total + row[j], 0));

  const RIGHT = {
    root: (q, eps) => Math.sqrt(q + eps),
    core: (v, r) => v.map((x) => x / r),
    stretched: (gain, g) => times(gain, g),
    terms: (h, u) => {
      const [first, second] = [mean(h), mean(times(h, u))];
      return u.map((x) => first + x * second);
    },
    inverse: (r) => 1 / r,
    scaled: (dz) => dz,
    after: (dz) => dz,
    forGain: (z, v, r) => v.map((x) => x / r),
    cotangents: ({ g }) => [g, g],
    sums: columnSums,
    finished: (all) => all,
  };

  const vjp = ({ rows, gain, bias, eps, g }, recipe = {}) => {
    const part = { ...RIGHT, ...recipe };
    const d = rows[0].length;
    const [a, b] = [gain ?? Array(d).fill(1), bias ?? Array(d).fill(0)];
    const made = STATISTICS[0].of(rows).map(({ v, q }, i) => {
      const r = part.root(q[0], eps);
      const u = part.core(v, r, a, b);
      const h = part.stretched(a, g[i]);
      const terms = part.terms(h, u, r);
      const whole = h.map((x, j) => (x - terms[j]) * part.inverse(r));
      const dz = part.after(part.scaled(whole, d), a);
      const y = times(a, u).map((x, j) => x + b[j]);
      const [forGain, forBias] = part.cotangents({ g: g[i], h, dz });
      return { dz, dgain: times(forGain, part.forGain(rows[i], v, r, y)), dbias: forBias };
    });
    const [dz, dgain, dbias] = FIELDS.map((name) => made.map((row) => row[name]));
    return part.finished({ dz, dgain: part.sums(dgain), dbias: part.sums(dbias) });
  };

  // ---- The mistakes: name, and either one part with its variants [detail, replacement], or several parts

  const meanTerm = (h, u) => u.map(() => mean(h));
  const coreTerm = (h, u) => u.map((x) => x * mean(times(h, u)));
  const combined = (first, second) => (h, u) => {
    const [one, other] = [meanTerm(h, u), coreTerm(h, u)];
    return u.map((_, j) => first * one[j] + second * other[j]);
  };
  const zeros = (a) => (Array.isArray(a) ? a.map(zeros) : 0);
  const without =
    (...names) =>
    (all) => ({ ...all, ...Object.fromEntries(names.map((name) => [name, zeros(all[name])])) });
  const INVERTED = "1 / sqrt(q + eps) is inverted again";
  const [DZ, ONE, OTHER] = ["the gradient by the input", "mean(gain * g)", "u mean(gain * g * u)"];

  const GRADIENT_MISTAKES = [
    { name: `${DZ} lacks both mean terms`, part: "terms", variants: [["", combined(0, 0)]] },
    { name: `${DZ} lacks the term ${ONE}`, part: "terms", variants: [["", combined(0, 1)]] },
    { name: `${DZ} lacks the term ${OTHER}`, part: "terms", variants: [["", combined(1, 0)]] },
    {
      name: `${DZ} subtracts a mean term twice`,
      part: "terms",
      variants: [
        [ONE, combined(2, 1)],
        [OTHER, combined(1, 2)],
      ],
    },
    {
      name: `${DZ} adds a mean term in place of subtracting it`,
      part: "terms",
      variants: [
        [ONE, combined(-1, 1)],
        [OTHER, combined(1, -1)],
        ["both", combined(-1, -1)],
      ],
    },
    {
      name: "a mean over the row is missing in the gradient by the input",
      part: "terms",
      variants: [
        ["u g u in place of u mean(g u)", (h, u) => u.map((x, j) => mean(h) + x * h[j] * x)],
        ["u g u, and no mean(g)", (h, u) => u.map((x, j) => x * h[j] * x)],
        ["u g u / sqrt(q + eps), and no mean(g)", (h, u, r) => u.map((x, j) => (x * h[j] * x) / r)],
      ],
    },
    { name: `${DZ} lacks the gain`, part: "stretched", variants: [["", (gain, g) => g]] },
    {
      name: "the gain is applied last in the gradient by the input",
      parts: { stretched: (gain, g) => g, after: times },
    },
    { name: `${DZ} is not divided by sqrt(q + eps)`, part: "inverse", variants: [["", () => 1]] },
    { name: INVERTED, part: "inverse", variants: [["", (r) => r]] },
    { name: INVERTED, part: "root", variants: [["in the core as well", (q, eps) => 1 / Math.sqrt(q + eps)]] },
    { name: `${DZ} is divided by d`, part: "scaled", variants: [["", (dz, d) => dz.map((x) => x / d)]] },
    { name: `${DZ} is multiplied by d`, part: "scaled", variants: [["", (dz, d) => dz.map((x) => x * d)]] },
    { name: `${DZ} has the wrong sign`, part: "scaled", variants: [["", (dz) => dz.map((x) => -x)]] },
    { name: "eps is missing in the backward pass", part: "root", variants: [["", (q) => Math.sqrt(q)]] },
    {
      name: "eps is hard-coded in the backward pass",
      before: "agrees with eps = ",
      part: "root",
      variants: USUAL_EPS.map((value) => [workbench.writtenEps(value), (q) => Math.sqrt(q + value)]),
    },
    {
      name: "the output is taken for the core",
      part: "core",
      variants: [["", (v, r, gain, bias) => v.map((x, j) => (gain[j] * x) / r + bias[j])]],
    },
    {
      name: "the core is had back as (y - bias) / gain",
      part: "core",
      shows: ({ gain }) => gain?.includes(0),
      variants: [["0 at a gain of 0", (v, r, gain) => v.map((x, j) => (gain[j] ? x / r : 0))]],
    },
    {
      name: "the gradient by the gain is not that of g * u",
      part: "forGain",
      variants: [
        ["z is not centred: g * z / sqrt(q + eps)", (z, v, r) => z.map((x) => x / r)],
        ["not divided by the root: g * (z - mean)", (z, v) => v],
        ["z in place of the core", (z) => z],
        ["the output in place of the core", (z, v, r, y) => y],
      ],
    },
    {
      name: "the gradients by gain or bias are summed from another cotangent than g",
      part: "cotangents",
      variants: [
        ["gain * g for the bias", ({ g, h }) => [g, h]],
        ["gain * g for the gain", ({ g, h }) => [h, g]],
        ["gain * g for both", ({ h }) => [h, h]],
        ["dz for the bias", ({ g, dz }) => [g, dz]],
        ["dz for the gain", ({ g, dz }) => [dz, g]],
        ["dz for both", ({ dz }) => [dz, dz]],
      ],
    },
    {
      name: "a gradient is 0",
      part: "finished",
      variants: [
        ["by the input", without("dz")],
        ["by the gain", without("dgain")],
        ["by the bias", without("dbias")],
        ["by gain and bias", without("dgain", "dbias")],
        ["by all three", without(...FIELDS)],
      ],
    },
    {
      name: "the gradients by gain and bias are swapped",
      part: "finished",
      variants: [["", ({ dz, dgain, dbias }) => ({ dz, dgain: dbias, dbias: dgain })]],
    },
    {
      name: "the parameter gradients are averaged over positions, not summed",
      part: "sums",
      variants: [["", (rows) => columnSums(rows).map((x) => x / rows.length)]],
    },
    {
      name: "the parameter gradients are those of one position",
      part: "sums",
      variants: [
        ["the first", (rows) => rows[0]],
        ["the last", (rows) => rows.at(-1)],
      ],
    },
  ];

  const choicesAt = (problem) =>
    GRADIENT_MISTAKES.filter(({ shows }) => !shows || shows(problem)).flatMap(
      ({ name, before, part, variants, parts }) =>
        parts
          ? [{ name, recipe: parts }]
          : variants.map(([detail, made]) => ({ name, before, detail, recipe: { [part]: made } })),
    );

  // ---- The verdict

  const SMALL = 64; // entries of z up to which the gradient of another layer is found, by differences

  // For each entry { x, blur }: how large the terms are of which it is the sum, by which rounding is measured, and what it
  // costs that z, g and the gain are those of a print-out.
  const sizes = ({ rows, gain, eps, g, blur }) => {
    const made = STATISTICS[0].of(rows).map(({ v, q }, i) => {
      const r = Math.sqrt(q[0] + eps) || 1;
      const u = v.map((x) => Math.abs(x) / r);
      const most = largest(gain ? times(gain, g[i]) : g[i]);
      const ofCore = (3 * blur.z) / r;
      const ofG = blur.g * Math.max(1, largest(gain ?? [])) + blur.gain * largest(g[i]);
      return {
        dz: u.map((x) => ({ x: (2 * most) / r, blur: (6 * ofCore * most + (2 + x) * ofG) / r })),
        dgain: u.map((x, j) => ({ x: Math.abs(g[i][j]) * x, blur: ofCore * Math.abs(g[i][j]) + ofG * x })),
        dbias: g[i].map((x) => ({ x: Math.abs(x), blur: ofG })),
      };
    });
    const [dgain, dbias] = ["dgain", "dbias"].map((name) => {
      const [x, blurs] = ["x", "blur"].map((part) => columnSums(made.map((row) => row[name].map((one) => one[part]))));
      return x.map((size, j) => ({ x: size, blur: blurs[j] }));
    });
    return { dz: made.flatMap(({ dz }) => dz), dgain, dbias };
  };

  const agrees = (made, pasted, size, unit) => {
    const factor = (unit > 1e-4 ? 4 : 32) * unit;
    return Object.entries(pasted).every(([name, { values, places }]) =>
      made[name].flat().every((x, k) => {
        const room = 0.501 * places[k] + factor * (Math.abs(values[k]) + size[name][k].x) + size[name][k].blur;
        return Math.abs(x - values[k]) <= room;
      }),
    );
  };

  // The gradients of another layer, { statistics, divisor, root, affine }, by central differences.
  const derivative = (problem, choice) => {
    const { rows, g } = problem;
    const [d, step] = [rows[0].length, 1e-5];
    const start = { rows, gain: problem.gain ?? Array(d).fill(1), bias: problem.bias ?? Array(d).fill(0) };
    const loss = (moved) => {
      const y = workbench.outputOf({ ...problem, ...start, ...moved }, choice);
      return y.reduce((total, row, i) => total + row.reduce((sum, x, j) => sum + x * g[i][j], 0), 0);
    };
    const bumped = (a, j, by) => a.map((x, k) => (k === j ? x + by : x));
    const slope = (moved) => (loss(moved(step)) - loss(moved(-step))) / (2 * step);
    return {
      dz: rows.map((row, i) =>
        row.map((_, j) => slope((by) => ({ rows: rows.map((one, k) => (k === i ? bumped(one, j, by) : one)) }))),
      ),
      dgain: start.gain.map((_, j) => slope((by) => ({ gain: bumped(start.gain, j, by) }))),
      dbias: start.bias.map((_, j) => slope((by) => ({ bias: bumped(start.bias, j, by) }))),
    };
  };

  const otherLayers = (problem) => {
    if (problem.rows.flat().length > SMALL) return [];
    const layer = "the gradient is that of another layer: ";
    const parts = { statistics: workbench.statisticsOf(problem), divisor: workbench.DIVISORS, root: workbench.ROOTS };
    return Object.entries({ ...parts, affine: workbench.affineMaps(problem) }).flatMap(([part, ones]) =>
      ones
        .filter(({ name }) => name && name !== workbench.HALF)
        .map((one) => ({
          causes: [{ ...one, layer }],
          made: (given) => derivative(given, { [part]: one }),
        })),
    );
  };

  const singles = (problem) =>
    choicesAt(problem).map((one) => ({ causes: [one], made: (given) => vjp(given, one.recipe) }));
  const pairs = (problem) =>
    choicesAt(problem).flatMap((one, k, choices) =>
      choices
        .slice(k + 1)
        .filter(({ recipe }) => Object.keys(recipe).every((part) => !(part in one.recipe)))
        .map((other) => ({
          causes: [one, other],
          made: (given) => vjp(given, { ...one.recipe, ...other.recipe }),
        })),
    );

  // As `judge` for an output: { format, right, answers }, `pasted` being some of dz, dgain and dbias.
  const judgeGradients = (problem, pasted, formats) => {
    const size = sizes(problem);
    const right = { causes: [], made: (given) => vjp(given) };
    for (const kind of [() => [right], singles, otherLayers, pairs]) {
      const ones = kind(problem);
      for (const format of formats) {
        const unit = Math.max(2 ** -FORMATS[format].digits, ones[0]?.causes[0]?.layer ? 1e-8 : 0);
        const answers = ones.filter(({ made }) => agrees(made(problem), pasted, size, unit));
        if (!answers.length) continue;
        const others =
          ones[0] === right ? singles(problem).filter(({ made }) => agrees(made(problem), pasted, size, unit)) : [];
        return { format, right: ones[0] === right, answers: [...answers, ...others] };
      }
    }
    return { format: formats[0], right: false, answers: [] };
  };

  // What tells the answers apart: a gradient that was not pasted; else positions and parameters that are not alike.
  const tellingGradient = (problem, pasted, answers) => {
    const made = answers.slice(0, 12).map((one) => one.made(problem));
    const differ = (name) =>
      made.some((one) => largest(one[name].flat().map((x, k) => x - made[0][name].flat()[k])) > 1e-6);
    const missing = FIELDS.find((name) => !(name in pasted) && differ(name));
    if (missing) return { field: missing };
    const wants = [];
    if (problem.rows.length === 1) wants.push("several positions (rows of z and g)");
    if (!problem.gain || new Set(problem.gain).size === 1) wants.push("a gain with unequal entries");
    if (!problem.bias || problem.bias.every((x) => x === 0)) wants.push("a bias that is not 0");
    return { wants: wants.length ? wants : ["an input whose variance is about ε, and a g that is not constant"] };
  };

  Object.assign(workbench, { GRADIENT_FIELDS: FIELDS, GRADIENT_MISTAKES, judgeGradients, tellingGradient, vjp });
}
