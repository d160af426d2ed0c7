{
  const { find, findAll, make } = book;

  // A press copies what `text` makes, and the button says for a moment what became of it.
  const copies = (button, text) => {
    const words = button.textContent;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not allowed";
      }
      setTimeout(() => {
        button.textContent = words;
      }, 1500);
    });
  };

  // The code of a cell.
  for (const box of findAll("div.highlight").filter((box) => !box.closest(".cell_output"))) {
    const button = make("button", { type: "button", className: "copy" }, "Copy");
    copies(button, () => find("pre", box).textContent);
    box.append(button);
  }

  // The page, or one statement of it, as an entry for BibTeX: formulas in TeX, and the permanent id.
  const meta = (name) => find(`meta[name=${name}]`).content;
  const titleOf = (heading) => {
    const words = heading.cloneNode(true);
    findAll(".caption-number, .fact-id, .checked, .cite, .headerlink", words).forEach((part) => part.remove());
    // Only the first of the pieces of a formula that marks touch has its TeX.
    for (const formula of findAll(".katex", words)) formula.replaceWith(formula.dataset.tex ?? "");
    return words.textContent.trim().replace(/\s+/g, " ");
  };
  const entry = (id) => {
    const title = titleOf(find(id ? `[id="${id}"] .admonition-title` : "h1"));
    const page = book.address.split("/").pop().replace(".html", "");
    return [
      `@misc{lnbook-${id || page},`,
      `  author = {{${meta("author")}}},`,
      `  title = {{${title}}},`,
      `  howpublished = {${meta("citation_journal_title")}, version ${meta("version")}},`,
      `  year = {${meta("citation_publication_date")}},`,
      ...(id ? [`  note = {Fact ${id}},`] : []),
      `  url = {${book.address}${id ? `#${id}` : ""}},`,
      "}\n",
    ].join("\n");
  };
  for (const button of findAll(".cite")) copies(button, () => entry(button.closest("[id]:not(main)")?.id));
}
