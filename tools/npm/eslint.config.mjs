import js from "@eslint/js";
import globals from "globals";

// The scripts of the pages share one scope in the browser: `book` is what book.js leaves for the others.
export default [
  js.configs.recommended,
  {
    files: ["book/_assets/*.js"],
    languageOptions: { sourceType: "script", globals: { ...globals.browser, book: "writable" } },
    rules: {
      "no-redeclare": ["error", { builtinGlobals: false }],
      eqeqeq: "error", "no-var": "error", "prefer-const": "error", "no-unused-vars": ["error", { caughtErrors: "none" }],
    },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: globals.node } },
];
