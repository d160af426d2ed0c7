// Reads a JSON list of {tex, display} and writes the list of {html} or {error}, in the same order.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const katex = createRequire(`${process.cwd()}/`)("katex");

function render({ tex, display }) {
  try {
    return { html: katex.renderToString(tex, { displayMode: display, strict: "error" }) };
  } catch (error) {
    return { error: error.message };
  }
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(render)));
