// The number formats a layer computes in, and which of them a print-out was written from.
{
  const { exponent, largest, scale } = workbench;

  // Significant binary digits, the exponent of the least number, and the largest number.
  const FORMATS = {
    float64: { digits: 53, least: -1074, most: Number.MAX_VALUE },
    float32: { digits: 24, least: -149, most: (2 - 2 ** -23) * 2 ** 127 },
    float16: { digits: 11, least: -24, most: 65504 },
    bfloat16: { digits: 8, least: -133, most: (2 - 2 ** -7) * 2 ** 127 },
  };

  const lastPlace = (x, { digits, least }) => Math.max(exponent(Math.abs(x)) - digits, least);

  // The number of the format next to x, to even at a tie, infinite beyond the largest.
  const round = (x, name) => {
    const format = FORMATS[name];
    if (name === "float64" || x === 0 || !Number.isFinite(x)) return x;
    const place = lastPlace(x, format);
    const units = scale(x, -place);
    const down = Math.floor(units);
    const up = units - down > 0.5 || (units - down === 0.5 && down % 2 !== 0);
    const rounded = scale(down + up, place);
    return Math.abs(rounded) > format.most ? Math.sign(x) * Infinity : rounded;
  };

  // Whether all values, as far as they are written, are numbers of the format, and too many of them for chance.
  const surely = ({ values, places }, name) => {
    let chance = 1;
    const all = values.every((x, i) => {
      chance *= Math.min(1, (places[i] || 1) / 2 ** lastPlace(x, FORMATS[name]));
      return x === 0 || Math.abs(round(x, name) - x) <= 0.501 * places[i];
    });
    return all && chance < 0.01;
  };

  // What a layer saw where this was printed: { rows, blur }, and blur is how far the rows may be from it. PyTorch shows 4
  // decimals of each number, NumPy and JAX 8; where numbers of a half precision lie further apart than what is shown,
  // the one nearest to it was meant.
  const asSeen = ({ rows, values, places, decimals, dtype, printer }) => {
    const half = ["float16", "bfloat16"].includes(dtype);
    const cut = printer && decimals >= (printer === "tensor" ? 4 : 8);
    const lost = (x, k) => (half && 2 ** lastPlace(x, FORMATS[dtype]) >= places[k] ? 0 : places[k] / 2);
    return {
      rows: half ? rows.map((row) => row.map((x) => round(x, dtype))) : rows,
      blur: cut ? largest(values.map(lost)) : 0,
    };
  };

  // The formats a print-out may come from, the likeliest first. Numbers of a narrow format stay what they are in a wider.
  const formatsOf = (parsed, chosen = "") => {
    if (chosen) return [chosen];
    const finest = Math.min(...parsed.places.filter(Boolean));
    const fine = parsed.printer === "array" || finest < 1e-9 * largest(parsed.values);
    const named = parsed.dtype || (fine ? "float64" : "float32");
    const narrower = Object.keys(FORMATS).filter((name) => FORMATS[name].digits < FORMATS[named].digits);
    return [named, ...narrower.filter((name) => surely(parsed, name))];
  };

  Object.assign(workbench, { asSeen, FORMATS, formatsOf, round });
}
