{
  const { find, page } = book;
  const list = find("#chapters");
  const button = find("button.menu");
  const wide = matchMedia("(width >= 62rem)");

  // The list stands where one is.
  const centre = () => book.centre(find("[aria-current]", list), list);
  centre();
  list.addEventListener("toggle", centre);

  // Beside the text the button hides the list, and it stays hidden on the next page; elsewhere it opens it.
  const tell = () => {
    if (wide.matches) button.ariaExpanded = String(page.dataset.chapters !== "hidden");
    else button.removeAttribute("aria-expanded");
  };
  button.addEventListener("click", (event) => {
    if (!wide.matches) return;
    event.preventDefault();
    const hidden = page.dataset.chapters === "hidden" ? "" : "hidden";
    page.dataset.chapters = hidden;
    try {
      localStorage.setItem("chapters", hidden);
    } catch {
      /* it holds on this page only */
    }
    tell();
    centre();
  });
  wide.addEventListener("change", tell);
  tell();
}
