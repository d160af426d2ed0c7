// What is typed or pasted: numbers, rows of numbers, print-outs of Python, NumPy, PyTorch and JAX.
{
  const NUMBER = /^([+-]?(?:\d[\d_]*\.?\d*|\.\d+)(?:e[+-]?\d+)?)(?:\/(\d+(?:\.\d*)?))?$/i;
  const KNOWN = /(?:\b|CPU|CUDA)(bfloat16|float16|float32|float64|float|half|double)(?:\b|Type\{)/i;
  const ALSO_CALLED = { half: "float16", double: "float64", float: "float32" };
  const LEFT_OUT =
    "Entries are left out (…): print the array in full, for instance with " +
    'numpy.set_printoptions(threshold=10**6) or torch.set_printoptions(profile="full").';
  const NOT_FINITE =
    "is not finite. From finite numbers the layer makes finite ones: look for nan in z, for a square or a sum too large " +
    "for the format, and for a root of 0 or less.";
  const COMMA = "Decimal commas are not read: write 1.5 for 1,5, and put a space after a comma that parts two numbers.";

  const dtypeOf = (text) => {
    const given = /\bdtype\s*=\s*['"]?(?:\w+\.)?(\w+)/.exec(text)?.[1];
    const found = KNOWN.exec(given ?? text)?.[1].toLowerCase();
    if (given && !found && !/^u?int|^bool/.test(given))
      throw new Error(`The dtype ${given} is none the workbench knows: float16, bfloat16, float32, float64.`);
    return found ? (ALSO_CALLED[found] ?? found) : "";
  };

  // Numbers parted by commas without a space and, elsewhere, by spaces alone; or an integer such as 05.
  const looksLikeDecimalCommas = (text) => {
    const inner = text.replace(/[[\](){}]/g, "\n");
    if (/\d,0\d/.test(inner)) return true;
    if (!/\d,\d/.test(inner)) return false;
    if (/\d[ \t;]+[+-]?[\d.]/.test(inner)) return true;
    const lines = text.split("\n").filter((line) => /\d/.test(line));
    return lines.length > 1 && !/[[({]/.test(text) && lines.every((line) => /^\s*[+-]?\d+,\d+\s*$/.test(line));
  };

  // What stands around a print-out in a console, a notebook or a file: prompts, one name, the type as libtorch prints it.
  const withoutNames = (text) =>
    text
      .replace(/^(?:>>>|In \[\d+\]:)\s*[a-z_][\w.()]*$/gim, " ")
      .replace(/^(?:>>>|(?:In|Out) ?\[\d+\]:)/gim, " ")
      .replace(/\[ \w+Type\{[\d,]*\} \]/g, " ")
      .replace(/^[\s{]*["']?[a-z_]\w*["']?\s*[=:](?=[^\n]*[\d.]|\s*\n)/i, " ")
      .replace(/\bgrad_fn\s*=\s*<[^>]*>/g, " ")
      .replace(/<tf\.Tensor:|\bnumpy\s*=|>/g, " ")
      .replace(
        /\b(dtype|device|requires_grad|layout|shape|size|weak_type)\s*=\s*(\([^)]*\)|'[^']*'|"[^"]*"|[\w.:]*)/g,
        " ",
      )
      .replace(/Parameter containing:/g, " ")
      .replace(/(\d\.?)f\b/gi, "$1")
      .replace(/\b(?:np|numpy|torch|jnp|jax|tf|mx|nn)\.(?=[a-zA-Z])/g, "")
      .replace(/\b(?:array|tensor|Array|Tensor|Parameter|asarray|float16|float32|float64|bfloat16)\b/g, " ");

  // The texts of the rows: what stands in one pair of brackets, or, without brackets, in one line.
  const rowTexts = (plain) => {
    const parts = (/[[({]/.test(plain) ? plain.split(/[\])}]/) : plain.split(/[;\n]/)).filter((row) =>
      /[\w.]/.test(row),
    );
    const words = parts.map((part) =>
      part
        .replace(/[[\](){},;]/g, " ")
        .trim()
        .split(/\s+/)
        .filter(Boolean),
    );
    return words.every((row) => row.length === 1) ? [words.flat()] : words;
  };

  // A word as { value, place, decimals }: place is that of the last digit written, such as 1e-4, or 0 for a whole number.
  const readNumber = (word, position) => {
    const found = NUMBER.exec(word);
    if (!found) {
      const hint = /^[+-]?(nan|inf|infinity)$/i.test(word) ? NOT_FINITE : "is not a number.";
      throw new Error(`“${word}” (entry ${position + 1}) ${hint}`);
    }
    const digits = found[1].replace(/_/g, "").toLowerCase();
    const value = Number(digits) / (found[2] ? Number(found[2]) : 1);
    if (!Number.isFinite(value)) throw new Error(`“${word}” (entry ${position + 1}) is larger than a float can be.`);
    const [mantissa, power = "0"] = digits.split("e");
    const decimals = (mantissa.split(".")[1] ?? "").length;
    return { value, decimals, place: decimals && !found[2] ? 10 ** (Number(power) - decimals) : 0 };
  };

  // { rows, values, places, decimals, dtype, printer }; throws a message for the reader.
  const parse = (text) => {
    const signs = text.replace(/[−–‑]/g, "-");
    const dtype = dtypeOf(signs);
    const printer = /\btensor\(/i.test(signs) ? "tensor" : /\barray\(/i.test(signs) ? "array" : "";
    const plain = withoutNames(signs);
    if (/\.\.\.|…/.test(plain)) throw new Error(LEFT_OUT);
    if (looksLikeDecimalCommas(plain)) throw new Error(COMMA);
    const words = rowTexts(plain);
    const lengths = [...new Set(words.map((row) => row.length))];
    const read = words.flat().map(readNumber);
    if (lengths.length > 1) throw new Error(`The rows are of unequal length: ${lengths.join(" and ")} numbers.`);
    const values = read.map(({ value }) => value);
    const d = lengths[0] ?? 0;
    const places = read.map(({ place }) => place);
    // Without exponents all numbers of a print-out have as many decimals: zeros at the end are left out.
    const finest = Math.min(...places.filter(Boolean));
    const common = printer && Number.isFinite(finest) && !words.flat().some((word) => /e/i.test(word));
    return {
      rows: words.map((_, i) => values.slice(i * d, (i + 1) * d)),
      values,
      places: common ? places.map(() => finest) : places,
      decimals: workbench.largest(read.map(({ decimals }) => decimals)),
      dtype,
      printer,
    };
  };

  const shapeOf = (rows) => (rows.length === 1 ? `${rows[0].length}` : `${rows.length} × ${rows[0].length}`);

  // A print-out with as many numbers as `like` has, in the same rows; rows of another shape are refused.
  const parseLike = (text, like) => {
    const parsed = parse(text);
    const [given, wanted] = [parsed.values.length, like.flat().length];
    if (given !== wanted) throw new Error(`${given} ${given === 1 ? "number" : "numbers"} here, but z has ${wanted}.`);
    if (parsed.rows.length > 1 && parsed.rows.length !== like.length)
      throw new Error(`The shape is ${shapeOf(parsed.rows)}, but z is ${shapeOf(like)}.`);
    const d = like[0].length;
    return { ...parsed, rows: like.map((_, i) => parsed.values.slice(i * d, (i + 1) * d)) };
  };

  const parseVector = (text, length) => {
    const parsed = parse(text);
    const given = parsed.values.length;
    if (given !== length)
      throw new Error(`${given} ${given === 1 ? "number" : "numbers"} here, but a row of z has ${length}.`);
    return parsed;
  };

  const parseNumber = (text, name) => {
    const { values } = parse(text);
    if (values.length !== 1)
      throw new Error(`${name} must be one number, and here are ${values.length}. A decimal comma is not read.`);
    return values[0];
  };

  Object.assign(workbench, { parse, parseLike, parseVector, parseNumber });
}
