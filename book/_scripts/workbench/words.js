// The verdicts in words: what fits, where to look, and what would tell two answers apart.
{
  const { make } = book;
  const { number, paragraph } = workbench.show;
  const LISTED = 6;

  const vector = (a) =>
    `(${a
      .slice(0, 4)
      .map((x) => number(x, 3))
      .join(", ")}${a.length > 4 ? ", …" : ""})`;
  const vectors = (rows) => rows.slice(0, 2).map(vector).join(", ") + (rows.length > 2 ? ", …" : "");

  // Answers of one name are one, with their details: a plain one says enough, of many others the first three.
  const nameOf = ({ causes }) => causes.map(({ layer = "", name }) => layer + name).join("\n");
  const shortened = (details) => {
    if (details.includes("")) return "";
    const left = details.length - 3;
    return details.slice(0, 3).join(" or ") + (left > 0 ? ` or ${left} other${left > 1 ? "s" : ""}` : "");
  };
  const causeName = ({ layer = "", name, before = "" }, details) => {
    const all = shortened([...new Set(details)]);
    return layer + name + (all ? ` (${before}${all})` : "");
  };
  const joined = (answers) => {
    const groups = new Map();
    answers.forEach((one) => groups.set(nameOf(one), [...(groups.get(nameOf(one)) ?? []), one]));
    return [...groups.values()];
  };
  const answerName = (group) =>
    group[0].causes.length
      ? group[0].causes
          .map((cause, k) =>
            causeName(
              cause,
              group.map(({ causes }) => causes[k].detail ?? ""),
            ),
          )
          .join("; and ")
      : "the right one";

  // `words` between backquotes as code.
  const withCode = (text) => text.split("`").map((part, k) => (k % 2 ? make("code", {}, part) : part));

  // One item for each name, with the place where the checker says to look.
  const item = (group) => {
    const places = [...new Set(group[0].causes.map(({ name }) => workbench.mistakes[name]).filter(Boolean))];
    const look = places.length
      ? [make("span", { className: "wb-place" }, ...withCode(`Look at: ${places.join("; ")}.`))]
      : [];
    return make("li", {}, make("strong", {}, answerName(group)), ...look);
  };
  const list = (groups) => {
    const shown = groups.slice(0, LISTED).map(item);
    const left = groups.length - shown.length;
    return make("ul", {}, ...shown, ...(left > 0 ? [make("li", {}, `and ${left} more`)] : []));
  };

  const judgedAs = (format, chosen, named, seen) => {
    const why = chosen
      ? "as chosen"
      : named
        ? "as the print-out says"
        : seen
          ? "as the digits show"
          : "no dtype is named";
    return `Judged as ${format}: ${why}.`;
  };

  const epsilonRange = ({ low, high }) => {
    if (number(low, 4) === number(high, 4)) return `only ε = ${number(low, 4)}`;
    if (low <= 0) return Number.isFinite(high) ? `any ε from 0 to ${number(high, 2)}` : "any ε";
    return `any ε from ${number(low, 4)} to ${number(high, 4)}`;
  };

  const howToTell = (problem, answers) => {
    if (answers.length < 2) return [];
    const found = workbench.telling(problem, answers);
    if (!found) return [paragraph("None of the inputs tried tells them apart.")];
    const { probe, outputs, all } = found;
    const parameters = probe.same === "ε" ? `, with gain ${vector(probe.gain)} and bias ${vector(probe.bias)}` : "";
    const given = outputs.slice(0, 3).map((y, i) => `“${answerName([answers[i]])}” gives ${vectors(y)}`);
    return [
      paragraph(
        make("strong", {}, all ? "To tell them apart, " : "To tell most of them apart, "),
        `run your layer at z = ${vectors(probe.rows)}${parameters}, with the same ${probe.same}. `,
        `There ${given.join("; ")}.`,
      ),
      ...(probe.rows.flat().length > 8 || probe.rows[0].length > 4 ? [fullProbe(probe.rows)] : []),
    ];
  };
  const fullProbe = (rows) =>
    make(
      "details",
      {},
      make("summary", {}, "This z in full, to copy"),
      make("pre", { tabIndex: 0 }, `[${rows.map((row) => `[${row.join(", ")}]`).join(",\n ")}]`),
    );

  const title = (kind, text) => make("p", { className: `wb-${kind}` }, make("strong", {}, text));
  const counted = (n) => (n === 1 ? "1 other layer" : `${n} other layers`);

  const rightOutput = (problem, { format, answers }) => {
    const others = joined(answers.filter(({ level }) => level > 0));
    const silent = [...(problem.gain ? [] : ["the gain"]), ...(problem.bias ? [] : ["the bias"])];
    const range = answers[0].range;
    return [
      title("right", `Right: the layer of this book and of PyTorch, as near as ${format} can be.`),
      ...(silent.length
        ? [paragraph(`Without ${silent.join(" and ")} nothing is said about what is done with it.`)]
        : []),
      ...(others.length
        ? [
            make(
              "details",
              {},
              make("summary", {}, `These digits fit ${counted(others.length)} as well, and ${epsilonRange(range)}`),
              list(others),
              ...howToTell(problem, answers),
            ),
          ]
        : []),
    ];
  };

  const nothingFits = (problem, { near, error }) => [
    title("wrong", "Not right, and none of the known mistakes makes this output."),
    paragraph(
      `The largest difference from the right output is ${number(error, 3)}. `,
      near
        ? `It is no more than rounding in half precision can cost: perhaps ${near}.`
        : "Two causes at once that are not on the list, other parameters or another z than given above would do that.",
    ),
  ];

  const wrongOutput = (problem, { answers }) => {
    const [first] = answers;
    const groups = joined(answers);
    const hard = answers.find(({ unusual }) => unusual);
    const rootOfOneRow = problem.rows.length === 1 && first.causes.some((cause) => workbench.ROOTS.includes(cause));
    return [
      title(
        "wrong",
        groups.length > 1
          ? `Not right. ${groups.length} answers fit, and these numbers do not tell them apart:`
          : first.causes.length > 1
            ? "Not right. These mistakes together make it:"
            : "Not right. This mistake makes it:",
      ),
      list(groups),
      ...(groups.length === 1 && first.causes.some(({ name }) => name === workbench.OTHER_EPS)
        ? [paragraph(`Within the digits given, ${epsilonRange(first.range)} fits; hard-coded, or handed over.`)]
        : []),
      ...(hard && problem.rows.length === 1
        ? [paragraph("At a single row, every root is that of some ε: a second row of another variance confirms it.")]
        : []),
      ...(rootOfOneRow && !hard
        ? [
            paragraph(
              `At a single row ${epsilonRange(first.range)} inside the root gives the same; a second row tells.`,
            ),
          ]
        : []),
      ...howToTell(problem, answers),
    ];
  };

  // The verdict on an output, as elements.
  const outputVerdict = (problem, pasted, chosen) => {
    if (workbench.largest(problem.rows.flat()) > 1e150) return [paragraph("Numbers beyond 1e150 are not judged.")];
    const formats = workbench.formatsOf(pasted, chosen);
    const verdict = workbench.judge(problem, pasted, formats);
    const parts = verdict.right ? rightOutput : verdict.answers.length ? wrongOutput : nothingFits;
    const otherwise = verdict.others.map(({ format, found }) =>
      paragraph(`If it is ${format}: ${answerName([found[0]])}. Choose the dtype to settle it.`),
    );
    return [
      ...parts(problem, verdict),
      ...otherwise,
      make(
        "p",
        { className: "wb-help" },
        judgedAs(verdict.format, chosen, pasted.dtype, verdict.format !== formats[0]),
      ),
    ];
  };

  const countedPasses = (n) => (n === 1 ? "1 wrong backward pass" : `${n} wrong backward passes`);
  const SAID = { dz: "dz", dgain: "dγ", dbias: "dβ" };

  const howToTellGradients = (problem, pasted, answers) => {
    if (answers.length < 2) return [];
    const { field, wants } = workbench.tellingGradient(problem, pasted, answers);
    const text = field ? `paste your ${SAID[field]} as well.` : `take ${wants.join(", and ")}.`;
    return [paragraph(make("strong", {}, "To tell them apart, "), text)];
  };

  // The verdict on gradients, as elements; `pasted` holds those of dz, dgain and dbias that were given.
  const gradientVerdict = (problem, pasted, chosen) => {
    const all = Object.values(pasted);
    const named = all.map(({ dtype }) => dtype).find(Boolean) ?? "";
    const formats = workbench.formatsOf(
      { values: all.flatMap(({ values }) => values), places: all.flatMap(({ places }) => places), dtype: named },
      chosen,
    );
    const { format, right, answers } = workbench.judgeGradients(problem, pasted, formats);
    const names = Object.keys(pasted).map((name) => SAID[name]);
    const groups = joined(answers);
    const wrongTitle =
      groups.length > 1
        ? `Not right. ${groups.length} answers fit, and these numbers do not tell them apart:`
        : "Not right. This makes it:";
    const parts = right
      ? [
          title("right", `Right: ${names.join(", ")} of the layer, as near as ${format} can be.`),
          ...(groups.length > 1
            ? [
                make(
                  "details",
                  {},
                  make("summary", {}, `These digits fit ${countedPasses(groups.length - 1)} as well`),
                  list(groups.slice(1)),
                  ...howToTellGradients(problem, pasted, answers),
                ),
              ]
            : []),
        ]
      : answers.length
        ? [title("wrong", wrongTitle), list(groups), ...howToTellGradients(problem, pasted, answers)]
        : [
            title("wrong", "Not right, and none of the known mistakes makes these gradients."),
            make("p", {}, "Expected: ", expected(problem, Object.keys(pasted))),
          ];
    return [...parts, make("p", { className: "wb-help" }, judgedAs(format, chosen, named, format !== formats[0]))];
  };
  const expected = (problem, names) => {
    const right = workbench.vjp(problem);
    return `${names.map((name) => `${SAID[name]} = ${name === "dz" ? vectors(right.dz) : vector(right[name])}`).join("; ")}.`;
  };

  Object.assign(workbench, { gradientVerdict, outputVerdict });
}
