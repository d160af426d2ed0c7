// Reads a JSON list of {tex, display} and writes the list of {html} or {error}, in the same order. A page has hundreds
// of formulas, and a telephone lays out each of their boxes: here they become as few as show and say the same.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const katex = createRequire(`${process.cwd()}/`)("katex");

// Classes that KaTeX's style sheet gives no look to, as far as they stand where this script leaves them.
const PLAIN = "mord mrel mbin mop mopen mclose mpunct minner mtight msupsub text".split(" ");
// KaTeX's sizes of letters, and how far the first line of a box of its reaches above and below, in the size of its text.
const SIZES = [0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.2, 1.44, 1.728, 2.074, 2.488];
const [ABOVE, BELOW] = [0.87, 0.25];
// The most signs of a formula in a paragraph that are kept on one line: what is two thirds of a telephone wide.
const LONGEST = 24;

const number = (length) => parseFloat(length ?? "0");
const em = (length) => `${+length.toFixed(4)}em`;
const has = (node, name) => node.classes?.includes(name);
const sizeOf = ({ classes = [] }) => {
  const [from, to] = ["reset-size", "size"].map(
    (name) => classes.find((one) => one.startsWith(name))?.match(/\d+$/)[0],
  );
  return from ? SIZES[to - 1] / SIZES[from - 1] : 1;
};

const spaceOf = (node) => {
  if (has(node, "mspace") && !node.children.length) return number(node.style.marginRight);
  return has(node, "nulldelimiter") && sizeOf(node) === 1 ? 0.12 : 0;
};

// The parts of a list, without boxes that hold others and show nothing, and with a space as the margin of what it follows.
function lean(nodes) {
  const parts = [];
  for (const node of nodes.flatMap(leanNode)) {
    const last = parts.at(-1);
    const space = spaceOf(node);
    if (space && last?.style) last.style.marginRight = em(number(last.style.marginRight) + space / sizeOf(last));
    else parts.push(node);
  }
  return parts;
}

function leanNode(node) {
  if (!node.classes) return node.attributes ? node : lean(node.children);
  node.classes = node.classes.filter((name) => name && !PLAIN.includes(name));
  if ("text" in node) {
    if (node.italic > 0) node.style.marginRight ??= em(node.italic);
    node.italic = 0;
    return node;
  }
  if (has(node, "vlist-t")) return stack(node);
  if (has(node, "katex-strut")) return fits(node.style) ? [] : node;
  if (!node.classes.some((name) => name.startsWith("delim-size"))) node.children = lean(node.children);
  return node.classes.length || Object.keys(node.style).length ? node : node.children;
}

// A strut that the first line of every box is as high and as deep as without it.
function fits({ height, verticalAlign }) {
  return number(height) + number(verticalAlign) <= ABOVE && -number(verticalAlign) <= BELOW;
}

// What KaTeX stacks in a table of two rows: a lone sub- or superscript is raised text, all else a box with its lines.
function stack(node) {
  const lines = node.children[0].children[0].children;
  for (const line of lines) {
    const [strut, ...content] = line.children;
    line.down = number(line.style.top) + number(strut.style.height);
    line.strut = strut;
    line.children = lean(content);
  }
  const [{ children, down, style, strut }] = lines;
  const [script] = children;
  if (lines.length === 1 && has(script, "katex-sizing")) {
    const size = sizeOf(script);
    const [sign] = script.children;
    const whole = script.children.length === 1 && "text" in sign;
    const margin = number(style.marginRight) / size + (whole ? number(sign.style.marginRight) : 0);
    if (whole) script.classes.push(...sign.classes);
    if (whole) script.children = [{ toMarkup: () => sign.text }];
    Object.assign(script.style, { verticalAlign: em(-down / size), marginRight: em(margin) });
    if (number(style.marginLeft)) script.style.marginLeft = em(number(style.marginLeft) / size);
    script.classes.push("script");
    return script;
  }
  for (const line of lines) {
    line.style.top = em(line.down);
    line.children.unshift(line.strut);
  }
  node.classes = ["vlist-t", "vlist"];
  node.style.marginTop = `-${strut.style.height}`;
  node.children = lines;
  return node;
}

// MathML without rows of one, and without the TeX, which the formula as a whole has.
function said(node) {
  if (!node.children) return node;
  node.children = node.children.map(said);
  const [first] = node.children;
  return node.type === "semantics" || (node.type === "mrow" && node.children.length === 1) ? first : node;
}

// What is around pieces that stay on one line, or around a formula of a display.
const around = (pieces, ...classes) =>
  Object.assign(Object.create(pieces[0]), { children: pieces, classes, style: {}, attributes: {} });
// How often something stands in a part; a bracket with an exponent is one within one, and like signs are one part.
const count = (node, inPart) =>
  inPart(node) || (node.children ?? []).reduce((sum, part) => sum + count(part, inPart), 0);
const brackets = (name) => (part) => (has(part, name) ? (part.text?.length ?? 1) : 0);
const opens = (node) => count(node, brackets("mopen")) - count(node, brackets("mclose"));
// The bars around a length or a number are the same on both sides.
const bars = (node) => count(node, (part) => (has(part, "mtight") ? 0 : (part.text?.match(/[∣∥]/g)?.length ?? 0)));

// The pieces, between which a line may end, in groups: none ends within parentheses or bars.
function together(pieces) {
  const groups = [];
  let inside = 0;
  let between = 0;
  for (const piece of pieces) {
    if (inside <= 0 && between % 2 === 0) groups.push([]);
    groups.at(-1).push(piece);
    inside += opens(piece);
    between += bars(piece);
  }
  return groups;
}

// In a paragraph what is in parentheses is one piece, unless it may be wider than a telephone.
const inText = (group) =>
  group.reduce((sum, piece) => sum + count(piece, (part) => part.text?.length ?? 0), 0) > LONGEST
    ? group
    : [Object.assign(group[0], { children: group.flatMap((piece) => piece.children) })];

// The formulas of a display, each of which ends with a wide space and a place for a break.
function formulasOf(pieces) {
  const formulas = [[]];
  for (const group of together(pieces)) {
    const { children } = group.at(-1);
    const end = children.findLastIndex((part) => has(part, "allowbreak"));
    if (end > 0) children.length = end - 1; // book.css sets their distance
    formulas.at(-1).push(group.length > 1 ? around(group, "held") : group[0]);
    if (end > 0) formulas.push([]);
  }
  return formulas;
}

function picture(tex, display) {
  // Behind a wide space a formula ends, and the display may go on in the next line.
  const breakable = display ? tex.replace(/\\q?quad\b/g, "$&\\allowbreak ") : tex;
  const tree = katex.__renderToDomTree(breakable, { displayMode: display, strict: "error", output: "html" });
  const whole = (display ? tree.children[0] : tree).children[0];
  const formulas = display ? formulasOf(whole.children) : [together(whole.children).flatMap(inText)];
  if (formulas.length > 1) whole.classes.push("parts");
  for (const piece of formulas.flat()) {
    for (const one of has(piece, "held") ? piece.children : [piece]) one.children = lean(one.children);
  }
  whole.children = formulas.length > 1 ? formulas.map((formula) => around(formula)) : formulas[0];
  return whole;
}

function render({ tex, display }) {
  try {
    const tree = katex.__renderToDomTree(tex, { displayMode: display, strict: "error" });
    const formula = display ? tree.children[0] : tree;
    const [spoken] = formula.children;
    spoken.children = spoken.children.map(said);
    formula.attributes["data-tex"] = `$${tex}$`;
    formula.children = [spoken, picture(tex, display)];
    return { html: tree.toMarkup() };
  } catch (error) {
    return { error: error.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(render)));
