// Reads {reading, entries} and writes the index that the script of the search, named on the command line, makes of them.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

const context = createContext({ book: { receive() {} }, value: JSON.parse(readFileSync(0, "utf8")) });
runInContext(readFileSync(process.argv[2], "utf8"), context);
process.stdout.write(runInContext("JSON.stringify(book.indexOf(value))", context));
