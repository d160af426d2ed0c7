// Which layers make a pasted output: all single mistakes are tried, then several together; all that fit are told.
{
  const { FORMATS, hardCoded, HALF, largest, outputOf, round, USUAL_EPS } = workbench;

  // Half-precision layers keep their statistics in float32.
  const unitsOf = (format) => {
    const unit = 2 ** -FORMATS[format].digits;
    return { unit, inside: Math.min(unit, 2 ** -24) };
  };

  // The interval of s = 1 / root in which |a v s + c - y| is within rounding, for all entries that share a root.
  // Rounding is half the last place written and a few roundings of the format; what an error of z or of the gain costs
  // grows with s, it is s slack.
  const interval = (entries) => {
    let [low, high] = [0, Infinity];
    for (const { p, t, room, slack } of entries) {
      const [up, down, side] = [Math.abs(p) + slack, Math.abs(p) - slack, p < 0 ? -t : t];
      if (up > 0) low = Math.max(low, (side - room) / up);
      else if (side > room) return null;
      if (down > 0) high = Math.min(high, (side + room) / down);
      else if (side < -room && up === 0) return null;
      if (low > high) return null;
    }
    return { low, high };
  };

  // For every root of the layer: { q, v, low, high }, or null where no root makes the numbers.
  const rootIntervals = ({ rows, blur }, { statistics, divisor, affine }, pasted, format) => {
    const { unit, inside } = unitsOf(format);
    const factor = unit > 1e-4 ? [3, 2] : [8, 8];
    const d = rows[0].length;
    const found = [];
    for (const [i, { v, q, count }] of statistics.made.entries()) {
      const spread = 8 * inside * largest(rows[i]) + 2 * blur.z;
      for (const [k, oneQ] of q.entries()) {
        const entries = (q.length === 1 ? v.map((_, j) => j) : [k]).map((j) => {
          const [[a, c], [ofGain, ofBias]] = [affine.pairs[i][j], affine.blurs[i][j]];
          const [y, place] = [pasted.rows[i][j], pasted.places[i * d + j]];
          const room = 0.501 * place + ofBias + unit * (factor[0] * Math.abs(y) + factor[1] * Math.abs(c));
          return { p: a * v[j], t: y - c, room, slack: Math.abs(a) * spread + ofGain * (Math.abs(v[j]) + spread) };
        });
        const range = interval(entries);
        if (!range) return null;
        found.push({ ...range, v, q: divisor.of(oneQ, count) });
      }
    }
    return found;
  };

  // The shortest decimal between two numbers >= 0.
  const simplest = (low, high) => {
    for (let digits = 1; digits < 17; digits += 1) {
      const x = Number(((low + high) / 2).toPrecision(digits));
      if (low <= x && x <= high) return x;
    }
    return (low + high) / 2;
  };

  // The epsilons inside the root with which all roots lie in their intervals.
  const epsilons = (intervals) => {
    let [low, high] = [0, Infinity];
    for (const { low: least, high: most, q } of intervals) {
      low = Math.max(low, Number.isFinite(most) ? 1 / most ** 2 - q : 0);
      high = Math.min(high, least > 0 ? 1 / least ** 2 - q : Infinity);
    }
    return low <= high && high > 0 ? { low, high } : null;
  };

  const within = (s, { low, high }) => Number.isFinite(s) && s >= low * (1 - 1e-13) && s <= high * (1 + 1e-13);

  // { level, causes, choice } for every layer that makes the numbers; level counts the parts that are not right.
  const layersFor = (problem, pasted, format) => {
    const maps = workbench.affineMaps(problem);
    const roots = workbench.ROOTS.filter(({ changes }) => !changes || changes(problem.eps));
    const found = [];
    for (const statistics of workbench.statisticsOf(problem)) {
      const made = statistics.of(problem.rows);
      for (const divisor of workbench.DIVISORS) {
        for (const affine of maps) {
          const others = { statistics: { ...statistics, made }, divisor, affine };
          const intervals = rootIntervals(problem, others, pasted, format);
          if (!intervals) continue;
          const add = (root, extra = {}) => {
            const causes = [statistics, divisor, root, affine].filter(({ name }) => name);
            found.push({ level: causes.length, causes, choice: { statistics, divisor, root, affine }, ...extra });
          };
          const fitting = roots.filter(({ of }) =>
            intervals.every((one) => within(1 / of(one.q, problem.eps, one.v), one)),
          );
          const range = epsilons(intervals);
          fitting.forEach((root) => add(root, { range }));
          if (!range || fitting.includes(workbench.ROOTS[0])) continue;
          const usual = USUAL_EPS.filter((value) => range.low <= value && value <= range.high);
          usual.forEach((value) => add(hardCoded(value), { range }));
          // An epsilon that nobody uses explains any root of a single row: it comes after all else.
          if (usual.length === 0 && Number.isFinite(range.high)) {
            add(hardCoded(simplest(range.low, range.high)), { range, unusual: true });
            found.at(-1).level += 2;
          }
        }
      }
    }
    return found.sort((one, other) => one.level - other.level);
  };

  // The largest entry by which an output differs from what the right layer gives, and the part of it that statistics of
  // half precision can cost: see lnbook.conformance.signatures.
  const distance = (problem, pasted) => {
    const right = outputOf(problem, {}).flat();
    return largest(right.map((y, i) => y - pasted.rows.flat()[i]));
  };
  const costOfHalf = ({ rows, eps, gain, bias }, digits) => {
    const roots = workbench.STATISTICS[0].of(rows).map(({ q }) => Math.sqrt(q[0] + eps));
    const size = largest(outputOf({ rows, eps, gain, bias }, {}).flat()) + largest(bias ?? [0]);
    return 4 * 2 ** -digits * (1 + largest(rows.flat()) / Math.min(...roots)) * size;
  };

  // The layers as they are where z was rounded to the format of the output first, if that changes z.
  const layers = (problem, pasted, format) => {
    const rounded = problem.rows.map((row) => row.map((x) => round(x, format)));
    const changed = rounded.some((row, i) => row.some((x, j) => x !== problem.rows[i][j] && Number.isFinite(x)));
    const found = layersFor(problem, pasted, format);
    if (changed && found[0]?.level !== 0) {
      const others = layersFor({ ...problem, rows: rounded }, pasted, format);
      if (others.length && (!found.length || others[0].level < found[0].level)) return others;
    }
    return found;
  };

  // The verdict on an output: { format, right, answers, near, error }. `answers` are the simplest layers that make it;
  // beside the right one all those that differ from it in one part.
  const judge = (problem, pasted, formats) => {
    const tried = formats.map((format) => ({ format, found: layers(problem, pasted, format) }));
    const best =
      tried.find(({ found }) => found[0]?.level === 0) ?? tried.find(({ found }) => found.length) ?? tried[0];
    const right = best.found[0]?.level === 0;
    const level = right ? 1 : (best.found[0]?.level ?? 0);
    const answers = best.found.filter((one) => one.level <= level);
    const before = tried.slice(0, tried.indexOf(best)).filter(({ found }) => found[0]?.level === 1);
    const error = distance(problem, pasted);
    const near =
      !answers.length && ["float16", "bfloat16"].some((name) => error <= costOfHalf(problem, FORMATS[name].digits));
    return { ...best, right, answers, others: before, near: near ? HALF : "", error };
  };

  // ---- What would tell the answers apart

  // Inputs with the columns of z, in units of the root of epsilon or so small that only epsilon counts: first as many
  // rows as z has, then one more, of another size, and at last with a gain and a bias that are not alike.
  const probes = ({ rows, eps, gain, bias }) => {
    const size = Math.sqrt(eps || 1);
    const short = (x) => Number(x.toPrecision(2));
    const row = (i, unit) => rows[0].map((_, j) => short(unit * (i + 1) * ((j * j + 3 * i) % 7)));
    const ofSize = (unit) => rows.map((_, i) => row(i, unit));
    const units = [size, size / 30, size / 1000, Math.min(size, eps || 1)];
    const more = [...ofSize(size), row(3, size / 30)];
    const stretched = { gain: rows[0].map((_, j) => j + 2), bias: rows[0].map((_, j) => (j % 2 ? -1 : 1) * (j + 1)) };
    return [
      ...units.map((unit) => ({ rows: ofSize(unit), eps, gain, bias, same: "ε, gain and bias" })),
      { rows: more, eps, gain, bias, same: "ε, gain and bias" },
      { rows: more, eps, ...stretched, same: "ε" },
    ];
  };

  const apart = (one, other) => {
    const [a, b] = [one.flat(), other.flat()];
    return !a.every((x, i) => Math.abs(x - b[i]) <= 0.01 * Math.max(largest(a), largest(b)) || Object.is(x, b[i]));
  };

  // The probe that tells most pairs of answers apart, what each answer gives there, and whether it tells all apart.
  const telling = (problem, answers) => {
    const few = answers.slice(0, 20);
    const tried = probes(problem).map((probe) => {
      const outputs = few.map(({ choice }) => outputOf(probe, choice));
      let [told, pairs] = [0, 0];
      outputs.forEach((one, i) =>
        outputs.slice(i + 1).forEach((other) => {
          pairs += 1;
          told += apart(one, other);
        }),
      );
      return { probe, outputs, told, all: told === pairs };
    });
    const most = Math.max(...tried.map(({ told }) => told));
    return most ? tried.find(({ told }) => told === most) : null;
  };

  Object.assign(workbench, { judge, telling });
}
