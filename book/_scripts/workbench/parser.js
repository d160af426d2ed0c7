{
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
      throw new Error(
        'Entries are left out (…): print the vector in full, for instance with numpy.set_printoptions(threshold=10**6) or torch.set_printoptions(profile="full").',
      );
    }
    const rows = plain.split(/[\])}]/).filter((row) => /\d/.test(row));
    if (rows.length > 1 && /[[({]/.test(plain)) {
      const numberEach = rows.every((row) => row.split(/[\s,;[({]+/).filter(Boolean).length === 1);
      if (!numberEach) throw new Error(`These are ${rows.length} rows; the workbench takes one vector. Keep one row.`);
    }
    const words = plain
      .replace(/[[\](){},;]/g, " ")
      .trim()
      .split(/\s+/)
      .filter(Boolean);
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

  Object.assign(workbench, { parse, parseVector, parseNumber });
}
