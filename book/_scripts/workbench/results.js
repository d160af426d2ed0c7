// What the workbench shows about z: tables of vectors, the Jacobian, the bound, a common shift.
{
  const { findAll, make } = book;
  const SHOWN = 16; // rows of the table and of the heat map

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

  workbench.show = { derivative, number: show, paragraph, shifted, vectors };
}
