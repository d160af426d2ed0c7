// Reads a JSON list of {tex, display} and writes the list of {html} or {error}, in the same order.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const katex = createRequire(`${process.cwd()}/`)("katex");

// Behind a wide space a formula ends, and the picture of a display may go on in the next line. Its MathML stays as it is.
function picture(tex) {
  const breakable = tex.replace(/\\q?quad\b/g, "$&\\allowbreak ");
  const html = katex.renderToString(breakable, { displayMode: true, strict: "error", output: "html" });
  return html.slice(html.indexOf('<span class="katex-html"'));
}

function render({ tex, display }) {
  try {
    const html = katex.renderToString(tex, { displayMode: display, strict: "error" });
    return { html: display ? html.slice(0, html.indexOf('<span class="katex-html"')) + picture(tex) : html };
  } catch (error) {
    return { error: error.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(render)));
