{
  const { find, make } = book;

  // The search and its index are loaded when somebody first asks for them.
  const dialog = make("dialog", { className: "search-box", ariaLabel: "Search" });
  document.body.append(dialog);
  book.openSearch = async () => {
    if (!dialog.open) dialog.showModal();
    const searchForm = await book.load("search");
    if (!dialog.firstChild) {
      const close = make("button", { type: "button", onclick: () => dialog.close() }, "Close");
      dialog.append(searchForm(), close);
      // A browser's first Escape only empties the field.
      dialog.addEventListener("keydown", (event) => {
        if (event.key === "Escape") dialog.close();
      });
      dialog.addEventListener("click", (event) => {
        if (event.target === dialog || event.target.closest("a")) dialog.close();
      });
    }
    find("input", dialog).select();
  };
  const button = find(".search-open");
  button.addEventListener("click", book.openSearch);
  button.hidden = false;

  const place = find("#search-page");
  if (place)
    book.load("search").then((form) => place.append(form(new URLSearchParams(location.search).get("q") ?? "")));
}
