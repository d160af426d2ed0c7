{
  const { find, findAll, make, page } = book;

  // Previews of what a reference names: a statement, an equation, a term, a source.
  const preview = make("div", { id: "preview", role: "tooltip", hidden: true });
  document.body.append(preview);
  let shown = null,
    wanted = null,
    timer = 0;
  const hide = () => {
    clearTimeout(timer);
    wanted = null;
    shown?.removeAttribute("aria-describedby");
    shown = null;
    preview.hidden = true;
  };
  const show = async (link) => {
    const url = new URL(link.href);
    const name = url.pathname
      .split("/")
      .pop()
      .replace(/\.html$/, "");
    const parts = await book.load(`previews/${name}`).catch(() => undefined);
    const html = parts?.[decodeURIComponent(url.hash.slice(1))];
    if (wanted !== link || !html) return;
    preview.innerHTML = html;
    for (const element of findAll("[id]", preview)) element.removeAttribute("id");
    for (const inner of findAll("a[href]", preview)) inner.href = new URL(inner.getAttribute("href"), url);
    findAll(".headerlink, .fact-id, .cite", preview).forEach((element) => element.remove());
    shown?.removeAttribute("aria-describedby");
    shown = link;
    link.setAttribute("aria-describedby", "preview");
    preview.hidden = false;
    const at = link.getClientRects()[0],
      wide = page.clientWidth;
    const below = at.bottom + preview.offsetHeight + 12 < innerHeight || at.top < preview.offsetHeight + 12;
    preview.style.left = `${scrollX + Math.max(8, Math.min(at.left, wide - preview.offsetWidth - 8))}px`;
    preview.style.top = `${scrollY + (below ? at.bottom + 6 : at.top - preview.offsetHeight - 6)}px`;
  };
  const want = (link, delay) => {
    clearTimeout(timer);
    wanted = link;
    timer = setTimeout(show, delay, link);
  };
  const leave = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, 250);
  };
  // One listener for all links: a page has hundreds.
  const onLinks = (kind, act) =>
    find("article").addEventListener(kind, ({ target, relatedTarget }) => {
      const link = target.closest("a.internal[href*='#']");
      if (link && !link.contains(relatedTarget)) act(link);
    });
  onLinks("mouseover", (link) => want(link, 200));
  onLinks("mouseout", leave);
  onLinks("focusin", (link) => {
    if (link.matches(":focus-visible")) want(link, 0);
  });
  onLinks("focusout", leave);
  preview.addEventListener("mouseenter", () => clearTimeout(timer));
  preview.addEventListener("mouseleave", leave);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });
}
