// The cheat sheet: a button that prints it.
book
  .find("h1")
  .after(book.make("button", { type: "button", className: "print", onclick: () => print() }, "Print on one sheet"));
