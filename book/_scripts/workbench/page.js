const workbenchPage = (place) => {
  const { find, findAll, make } = book;
  const { FIELDS, EXAMPLES, GRADIENT_FIELDS, show } = workbench;

  const inputs = {};
  const errors = {};
  const results = make("div", { className: "wb-results" });
  const status = make("p", { role: "status" });
  const verdicts = Object.fromEntries(
    ["output", "gradients"].map((name) => [
      name,
      make("div", { id: `wb-verdict-${name}`, className: "wb-verdict", ariaLive: "polite" }),
    ]),
  );
  let written = null;

  // ---- State: what was typed, kept in the address

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

  // ---- What the fields hold

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

  const readInput = (text) => {
    const parsed = workbench.parse(text);
    if (!parsed.values.length) throw new Error("Give at least one number.");
    return workbench.asSeen(parsed);
  };

  const perEntry = (d) =>
    optional((text) => {
      const parsed = workbench.parse(text);
      const one = parsed.values.length === 1;
      const { rows, blur } = workbench.asSeen(one ? parsed : workbench.parseVector(text, d));
      return { values: one ? Array(d).fill(rows[0][0]) : rows.flat(), blur };
    });

  const readEps = (text) => {
    const value = workbench.parseNumber(text, "ε");
    if (value < 0) throw new Error("ε must not be negative.");
    return value;
  };

  const readFields = () => {
    const input = valueOf("z", readInput);
    const rows = input?.rows ?? [[0]];
    const like = optional((text) => workbench.parseLike(text, rows));
    const ofRow = optional((text) => workbench.parseVector(text, rows[0].length));
    const [gain, bias] = ["gain", "bias"].map((name) => valueOf(name, perEntry(rows[0].length)));
    const g = valueOf(
      "g",
      optional((text) => workbench.asSeen(workbench.parseLike(text, rows))),
    );
    return {
      ...{ rows: input?.rows, eps: valueOf("eps", readEps), gain: gain && gain.values, bias: bias && bias.values, g },
      // How far each may be from what the layer saw.
      blur: { z: input?.blur, gain: gain?.blur ?? 0, bias: bias?.blur ?? 0, g: g?.blur ?? 0 },
      shift: valueOf(
        "shift",
        optional((text) => workbench.parseNumber(text, "c")),
      ),
      ...{ output: valueOf("output", like), dz: valueOf("dz", like) },
      ...{ dgain: valueOf("dgain", ofRow), dbias: valueOf("dbias", ofRow) },
    };
  };

  // ---- What is shown

  const nothing = () => {
    results.replaceChildren(show.paragraph("The results wait for the field marked above."));
    status.textContent = "";
    Object.values(verdicts).forEach((verdict) => verdict.replaceChildren());
  };

  const showGradients = (fields) => {
    const pasted = Object.fromEntries(GRADIENT_FIELDS.map((name) => [name, fields[name]]).filter(([, given]) => given));
    const asked = GRADIENT_FIELDS.some((name) => inputs[name].value.trim());
    if (!asked) return verdicts.gradients.replaceChildren();
    if (fields.g === null)
      return verdicts.gradients.replaceChildren(show.paragraph("Paste g as well: a gradient is judged for a given g."));
    if (!fields.g || !Object.keys(pasted).length) return verdicts.gradients.replaceChildren();
    const problem = { ...fields, g: fields.g.rows };
    return verdicts.gradients.replaceChildren(...workbench.gradientVerdict(problem, pasted, inputs.dtype.value));
  };

  const update = () => {
    const fields = readFields();
    const { rows, eps, gain, bias, shift, output } = fields;
    if ([rows, eps, gain, bias].includes(undefined)) {
      nothing();
      return;
    }
    try {
      const [z, n] = [rows[0], rows.length];
      const result = workbench.compute(z, eps, gain, bias);
      verdicts.output.replaceChildren(...(output ? workbench.outputVerdict(fields, output, inputs.dtype.value) : []));
      showGradients(fields);
      results.replaceChildren(
        ...(n > 1 ? [show.paragraph(`Below is the first of ${n} rows; each row is normalized by itself.`)] : []),
        show.vectors(z, result),
        show.derivative(result, gain, eps),
        ...((shift ?? null) === null ? [] : [show.shifted(z, eps, gain, bias, result, shift)]),
      );
      status.textContent =
        `${n > 1 ? `${n} rows, ` : ""}d = ${z.length}, mean ${show.number(result.mean, 4)}, ` +
        `variance ${show.number(result.variance, 4)}, ` +
        `operator norm ${show.number(result.norm, 4)}, bound ${show.number(result.bound, 4)}.`;
      findAll(".wb-scroll", results).forEach(book.reach);
    } catch (error) {
      nothing();
      errors.eps.textContent = error.message;
      inputs.eps.ariaInvalid = "true";
    }
  };

  // ---- The form

  const form = make("form", { className: "wb-form", autocomplete: "off" });
  form.addEventListener("submit", (event) => event.preventDefault());
  let waiting = 0;

  // The verdict on gradients stands below the field that asked for it last.
  const bring = (name) => {
    if (GRADIENT_FIELDS.includes(name)) inputs[name].after(verdicts.gradients);
  };

  // Scrolls as little as shows the field and the verdict below it.
  const reveal = (input) => {
    const verdict = find(".wb-verdict:not(:empty)", input.closest(".wb-field"));
    [verdict, verdict && input].forEach((element) => element?.scrollIntoView({ block: "nearest" }));
  };

  const inputOf = ({ name, rows, options, start }) => {
    if (options) {
      const choices = options.map((value) => make("option", { value }, value || "as printed"));
      return make("select", { id: `wb-${name}` }, ...choices);
    }
    const size = rows ? { rows } : {};
    return make(rows ? "textarea" : "input", { id: `wb-${name}`, spellcheck: false, value: start, ...size });
  };

  FIELDS.forEach((field) => {
    const { name, label, help, wide } = field;
    const input = inputOf(field);
    input.setAttribute("aria-describedby", `wb-${name}-help wb-${name}-error`);
    input.addEventListener("input", () => {
      clearTimeout(waiting);
      bring(name);
      // Browsers allow about a hundred changes of the address in half a minute.
      waiting = setTimeout(() => {
        update();
        writeAddress();
        reveal(input);
      }, 310);
    });
    inputs[name] = input;
    errors[name] = make("p", { id: `wb-${name}-error`, className: "wb-error", ariaLive: "polite" });
    form.append(
      make(
        "div",
        { className: `wb-field wb-field-${name}${wide ? " wb-wide" : ""}` },
        make("label", { htmlFor: `wb-${name}` }, label),
        input,
        errors[name],
        ...(name === "output" ? [verdicts.output] : []),
        make("p", { id: `wb-${name}-help`, className: "wb-help" }, help),
      ),
    );
  });
  inputs.dz.after(verdicts.gradients);

  const buttons = Object.entries(EXAMPLES).map(([name, values]) => {
    const button = make("button", { type: "button" }, name);
    button.addEventListener("click", () => {
      FIELDS.forEach((field) => {
        inputs[field.name].value = values[field.name] ?? "";
      });
      bring("dz");
      update();
      writeAddress();
      reveal(EXAMPLES[name].output ? inputs.output : inputs.dz);
    });
    return button;
  });
  place.replaceChildren(make("p", { className: "wb-examples" }, "Try: ", ...buttons), form, status, results);
  window.addEventListener("hashchange", () => {
    if (readAddress()) update();
  });
  readAddress();
  bring(GRADIENT_FIELDS.findLast((name) => inputs[name].value.trim()) ?? "dz");
  update();
};

workbenchPage(book.find("#workbench"));
