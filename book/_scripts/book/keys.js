{
  const { find } = book;

  // Keys: Ctrl+K searches, everywhere; / does too and the arrows turn pages, never while the reader types or moves a
  // slider.
  document.addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k" && !event.altKey && !event.shiftKey) {
      event.preventDefault();
      book.openSearch();
      return;
    }
    if (
      event.defaultPrevented ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.shiftKey ||
      find("dialog[open]")
    )
      return;
    if (event.target.closest("input, textarea, select, [contenteditable], [role=slider], .scrolls, pre")) return;
    if (event.key === "/") {
      event.preventDefault();
      book.openSearch();
    }
    if (event.key === "ArrowLeft") find(".neighbours .prev")?.click();
    if (event.key === "ArrowRight") find(".neighbours .next")?.click();
  });
}
