// Asks the search of a built book: reads a list of questions, and writes for each the results, their snippets and what is
// suggested. The folder _static is named on the command line; with `bare` behind it the results are all that is written.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createContext, runInContext } from "node:vm";

const [folder, bare] = process.argv.slice(2);
const received = {};
const book = { receive: (name, value) => (received[name] = value) };
const context = createContext({ book });
const load = (name) => {
  if (!(name in received)) runInContext(readFileSync(join(folder, `${name}.js`), "utf8"), context);
  return received[name];
};

load("search");
const search = book.searcher(load("search-index"));
const answer = (question) => {
  const { results, suggestions } = search(question);
  const shown = results.slice(0, 20).map(({ snippet, ...entry }) => {
    if (bare) return entry;
    const page = entry.url.match(/([\w-]+)\.html/)[1];
    return { ...entry, snippet: snippet(load(`search/${page}`)[entry.at]) };
  });
  return bare ? { results: shown } : { results: shown, suggestions: suggestions() };
};
process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(answer)));
