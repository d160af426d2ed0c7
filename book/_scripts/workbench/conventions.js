{
  const { center, divide, exponent, largest, scale } = workbench;

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

  Object.assign(workbench, { conventions, match, conventionName });
}
