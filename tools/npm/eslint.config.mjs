import js from "@eslint/js";
import globals from "globals";

// The scripts of the pages share one scope in the browser: `book` and `workbench` hold what the files give each other.
export default [
  js.configs.recommended,
  {
    files: ["book/_scripts/**/*.js"],
    languageOptions: {
      sourceType: "script",
      globals: { ...globals.browser, book: "writable", workbench: "writable", MiniSearch: "readonly" },
    },
    rules: {
      "no-redeclare": ["error", { builtinGlobals: false }],
      "no-unused-vars": ["error", { varsIgnorePattern: "^(book|workbench)$", caughtErrors: "none" }],
      "no-var": "error",
      "prefer-const": "error",
      eqeqeq: "error",
    },
  },
  { files: ["**/*.mjs"], languageOptions: { globals: globals.node } },
];
