{
  const { find, page } = book;

  // Theme: the system's, or the reader's choice, kept for the next page.
  const themes = ["system", "light", "dark"];
  const themeButton = find("button.theme");
  const showTheme = () => {
    themeButton.textContent = `Theme: ${page.dataset.theme ?? "system"}`;
  };
  themeButton.addEventListener("click", () => {
    const next = themes[(themes.indexOf(page.dataset.theme ?? "system") + 1) % themes.length];
    if (next === "system") delete page.dataset.theme;
    else page.dataset.theme = next;
    try {
      localStorage.setItem("theme", next === "system" ? "" : next);
    } catch {
      /* it holds on this page only */
    }
    showTheme();
  });
  showTheme();
  themeButton.hidden = false;
}
