const workbenchPage = (place) => {
  const { findAll, make } = book;
  const SHOWN = 16; // rows of the table and of the heat map

  const FIELDS = [
    {
      name: "z",
      label: "z, the vector",
      rows: 2,
      start: "1, 1, -2",
      help: "Numbers, or a print-out of Python, NumPy or PyTorch.",
    },
    { name: "eps", label: "ε", start: "2", help: "As PyTorch’s eps; 1e-5 is its default." },
    {
      name: "gain",
      label: "γ, the gain",
      rows: 1,
      start: "2, 0, -1",
      help: "Left empty: 1 for each entry. One number stands for all.",
    },
    {
      name: "bias",
      label: "β, the bias",
      rows: 1,
      start: "",
      help: "Left empty: 0 for each entry. One number stands for all.",
    },
    { name: "shift", label: "c, a common shift", start: "", help: "Added to all entries of z." },
    {
      name: "output",
      label: "Output of your own layer",
      rows: 2,
      start: "",
      help: "For this z; tells which convention makes it.",
    },
  ];

  const EXAMPLES = {
    "gain that turns a sign": { z: "1, 1, -2", eps: "2", gain: "2, 0, -1" },
    "constant input": { z: "3, 3, 3", eps: "1e-5", bias: "1, -1, 2" },
    "whose convention?": { z: "1, 0, 0, 0", eps: "1e-5", output: "tensor([ 1.5000, -0.5000, -0.5000, -0.5000])" },
    "far from zero": { z: "99999999, 100000000, 100000001, 100000002", eps: "1e-5", shift: "0.5" },
  };

  // Seven significant digits, as text; the minus sign is a minus sign.
  const show = (x, digits = 7) => {
    if (!Number.isFinite(x)) return Number.isNaN(x) ? "not a number" : x > 0 ? "∞" : "−∞";
    const rounded = Number(x.toPrecision(digits));
    const plain = rounded === 0 || (Math.abs(rounded) >= 1e-4 && Math.abs(rounded) < 1e9);
    return String(plain ? rounded : rounded.toExponential())
      .replaceAll("-", "−")
      .replace("e+", "e");
  };

  const table = (caption, heads, rows) => {
    const row = (cells, tag) =>
      make(
        "tr",
        {},
        ...cells.map((cell, i) =>
          cell !== "" && (i === 0 || tag === "th")
            ? make("th", { scope: tag === "th" ? "col" : "row" }, cell)
            : make("td", {}, cell),
        ),
      );
    return make(
      "div",
      { className: "wb-scroll", role: "group", ariaLabel: caption },
      make(
        "table",
        {},
        make("caption", {}, caption),
        make("thead", {}, row(heads, "th")),
        make("tbody", {}, ...rows.map((cells) => row(cells, "td"))),
      ),
    );
  };

  const section = (title, ...children) => make("section", {}, make("h3", {}, title), ...children);
  const paragraph = (...words) => make("p", {}, ...words);

  const more = (d) =>
    d > SHOWN ? [paragraph(`The first ${SHOWN} of ${d} entries; all of them are in the output below.`)] : [];

  const vectors = (z, result) =>
    section(
      "Mean, variance, core, output",
      table(
        "Statistics",
        ["what", "value"],
        [
          ["mean μ", show(result.mean)],
          ["variance q, divisor d", show(result.variance)],
          ["variance of the core, q/(q+ε)", show(result.coreVariance)],
        ],
      ),
      table(
        "Coordinate by coordinate",
        ["i", "z", "centred", "core u", "output y"],
        z.slice(0, SHOWN).map((x, i) => [i + 1, x, result.centered[i], result.u[i], result.y[i]].map((n) => show(n))),
      ),
      ...more(z.length),
      make(
        "details",
        {},
        make("summary", {}, "The output in full, to copy"),
        make("pre", { tabIndex: 0 }, `[${result.y.join(", ")}]`),
      ),
    );

  // The strength of the colour is the entry's share of the largest; the number in the cell says the same in words.
  const heatMap = (result, gain) => {
    const d = result.u.length;
    if (d > SHOWN) return paragraph(`The Jacobian has ${d} × ${d} entries; it is drawn up to ${SHOWN} × ${SHOWN}.`);
    const J = workbench.jacobian(result, gain);
    const most = workbench.largest(J.flat()) || 1;
    const heads = ["output", ...J.map((_, j) => `by z${j + 1}`)];
    const made = table(
      `Jacobian of the ${gain ? "full layer, diag(γ)J" : "core, J"}: row i, column j is ∂y by ∂z`,
      heads,
      J.map((row, i) => [`y${i + 1}`, ...row.map((x) => show(x, 4))]),
    );
    findAll("td", made).forEach((cell, k) => {
      const x = J[Math.floor(k / d)][k % d];
      cell.className = x < 0 ? "wb-negative" : "wb-positive";
      cell.style.setProperty("--share", `${Math.round((45 * Math.abs(x)) / most)}%`);
    });
    made.classList.add("wb-heat");
    return made;
  };

  const derivative = (result, gain, eps) => {
    const names = ["along 1, a common shift", "along the centred vector", "across both"];
    const normRow = (name, norm, bound) => [
      name,
      show(norm),
      show(bound),
      bound ? `${show((100 * norm) / bound, 3)} %` : "0 %",
    ];
    const norms = [normRow("core", result.coreNorm, result.coreBound)];
    if (gain) norms.push(normRow("full layer", result.norm, result.bound));
    return section(
      "Jacobian and bound",
      heatMap(result, gain),
      table(
        "Eigenvalues of the core’s Jacobian J",
        ["direction", "eigenvalue", "how often"],
        names
          .map((name, k) => [name, show(result.eigenvalues[k]), String(result.multiplicities[k])])
          .filter((_, k) => result.multiplicities[k] > 0),
      ),
      table("Operator norm: the largest first-order amplification", ["of the", "here", "at most", "share"], norms),
      ...(eps === 0 ? [paragraph("At ε = 0 there is no bound: the layer is not Lipschitz.")] : []),
    );
  };

  const shifted = (z, eps, gain, bias, before, c) => {
    const moved = z.map((x) => x + c);
    if (!moved.every(Number.isFinite)) return paragraph("z + c leaves the range of floats.");
    const after = workbench.compute(moved, eps, gain, bias);
    const change = workbench.largest(after.y.map((y, i) => y - before.y[i]));
    const lost = workbench.largest(moved.map((x, i) => x - c - z[i]));
    return section(
      `A common shift by ${show(c)}`,
      table(
        "Before and after",
        ["what", "z", "z + c1"],
        [
          ["mean", show(before.mean), show(after.mean)],
          ["variance", show(before.variance), show(after.variance)],
          ...before.y.slice(0, SHOWN).map((y, i) => [`y${i + 1}`, show(y), show(after.y[i])]),
        ],
      ),
      paragraph(
        change === 0
          ? "The output is the same to the last bit."
          : `The largest change of an output is ${show(change, 2)}. In exact arithmetic it is 0: ` +
              (lost > 0
                ? "z + c had to be rounded to floats, and the change is what that rounding took from z."
                : "this is rounding."),
      ),
    );
  };

  const ownLayer = (z, eps, gain, bias, { values, place }) => {
    const candidates = workbench.conventions(z, eps, gain, bias);
    if (!candidates.length)
      return section("Your own layer", paragraph("No convention gives a number for this z and ε."));
    const { matches, nearest } = workbench.match(candidates, values, place);
    if (!matches.length) {
      return section(
        "Your own layer",
        paragraph(
          make("strong", {}, "None of the conventions makes this output."),
          ` The nearest is: ${workbench.conventionName(nearest)}; it is off by up to ${show(nearest.error, 3)}. `,
          "Another ε, gain or bias than given above, or less precise arithmetic, would do that.",
        ),
      );
    }
    const names = matches.map((match) =>
      make(
        "li",
        {},
        workbench.conventionName(match),
        match.centered && match.inside && !match.sample && !match.plusOne
          ? ": the convention of this book and of PyTorch"
          : "",
      ),
    );
    return section(
      "Your own layer",
      paragraph(
        make(
          "strong",
          {},
          matches.length === 1
            ? "One convention makes this output:"
            : `${matches.length} conventions make this output, to the digits given; another z or ε can tell them apart:`,
        ),
      ),
      make("ul", {}, ...names),
    );
  };

  // ---- State: what was typed, kept in the address

  const inputs = {};
  const errors = {};
  const results = make("div", { className: "wb-results" });
  const status = make("p", { role: "status" });
  let written = null;

  const readAddress = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    if (location.hash === written || !FIELDS.some(({ name }) => given.has(name))) return false;
    FIELDS.forEach(({ name }) => {
      inputs[name].value = given.get(name) ?? "";
    });
    return true;
  };

  const writeAddress = () => {
    const state = new URLSearchParams();
    FIELDS.forEach(({ name }) => {
      if (inputs[name].value.trim()) state.set(name, inputs[name].value.trim());
    });
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
    inputs[name].ariaInvalid = String(Boolean(reason));
    return value;
  };

  const optional = (read) => (text) => (text.trim() ? read(text) : null);

  const perEntry = (d) =>
    optional((text) => {
      const { values } = workbench.parse(text);
      return values.length === 1 ? Array(d).fill(values[0]) : workbench.parseVector(text, d).values;
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
    const shift = valueOf(
      "shift",
      optional((text) => workbench.parseNumber(text, "c")),
    );
    const d = z?.length ?? null;
    const gain = valueOf("gain", perEntry(d ?? 1));
    const bias = valueOf("bias", perEntry(d ?? 1));
    const output = valueOf(
      "output",
      optional((text) => workbench.parseVector(text, d)),
    );
    if ([z, eps, gain, bias].includes(undefined)) {
      results.replaceChildren(paragraph("The results wait for the field marked above."));
      status.textContent = "";
      return;
    }
    try {
      const result = workbench.compute(z, eps, gain, bias);
      results.replaceChildren(
        vectors(z, result),
        derivative(result, gain, eps),
        ...((shift ?? null) === null ? [] : [shifted(z, eps, gain, bias, result, shift)]),
        ...((output ?? null) === null ? [] : [ownLayer(z, eps, gain, bias, output)]),
      );
      status.textContent =
        `d = ${d}, mean ${show(result.mean, 4)}, variance ${show(result.variance, 4)}, ` +
        `operator norm ${show(result.norm, 4)}, bound ${show(result.bound, 4)}.`;
      findAll(".wb-scroll", results).forEach(book.reach);
    } catch (error) {
      errors.eps.textContent = error.message;
      inputs.eps.ariaInvalid = "true";
      results.replaceChildren(paragraph("The results wait for the field marked above."));
      status.textContent = "";
    }
  };

  const form = make("form", { className: "wb-form", autocomplete: "off" });
  form.addEventListener("submit", (event) => event.preventDefault());
  let waiting = 0;
  FIELDS.forEach(({ name, label, rows, start, help }) => {
    const input = make(rows ? "textarea" : "input", {
      id: `wb-${name}`,
      spellcheck: false,
      value: start,
      ...(rows && { rows }),
    });
    input.setAttribute("aria-describedby", `wb-${name}-help wb-${name}-error`);
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      // Browsers allow about a hundred changes of the address in half a minute.
      waiting = setTimeout(() => {
        update();
        writeAddress();
      }, 310);
    });
    inputs[name] = input;
    errors[name] = make("p", { id: `wb-${name}-error`, className: "wb-error", ariaLive: "polite" });
    form.append(
      make(
        "div",
        { className: `wb-field wb-field-${name}` },
        make("label", { htmlFor: `wb-${name}` }, label),
        input,
        make("p", { id: `wb-${name}-help`, className: "wb-help" }, help),
        errors[name],
      ),
    );
  });
  const buttons = Object.entries(EXAMPLES).map(([name, values]) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      FIELDS.forEach((field) => {
        inputs[field.name].value = values[field.name] ?? "";
      });
      update();
      writeAddress();
    });
    return button;
  });
  place.replaceChildren(make("p", { className: "wb-examples" }, "Try: ", ...buttons), form, status, results);
  window.addEventListener("hashchange", () => {
    if (readAddress()) update();
  });
  readAddress();
  update();
};

workbenchPage(book.find("#workbench"));
