{
  const { find, findAll, page } = book;

  findAll(".scroll, .table-scroll, pre").forEach(book.reach);

  // The list of sections marks the one being read: the last, down to the smallest, that reaches the line near the top.
  // At the foot of the page it is the last one, however short.
  const list = find(".sections");
  const entries = new Map(findAll(".sections a").map((link) => [book.named(link.hash), link]));
  const reached = new Set();
  const mark = (seen) => {
    for (const { target, isIntersecting } of seen) reached[isIntersecting ? "add" : "delete"](target);
    const sections = [...entries.keys()];
    const read = reached.has(foot) ? sections.at(-1) : sections.findLast((section) => reached.has(section));
    for (const [section, link] of entries) {
      if (section === read) link.ariaCurrent = "location";
      else link.ariaCurrent = null;
    }
    if (read) book.centre(entries.get(read), list);
  };
  const foot = find("footer");
  const line = new IntersectionObserver(mark, { rootMargin: "-15% 0px -84% 0px" });
  for (const section of entries.keys()) line.observe(section);
  // Heights are fractions of a pixel: at the very foot it may be less than the whole.
  if (list) new IntersectionObserver(mark, { threshold: 0.9 }).observe(foot);

  // The way back to the top is not offered at the top. (An observer sometimes misses a jump over many screens.)
  const toTop = find(".to-top");
  const title = find("h1");
  toTop.hidden = true;
  addEventListener(
    "scroll",
    () => {
      toTop.hidden = title.getBoundingClientRect().bottom > 0;
    },
    { passive: true },
  );

  // Each sheet of paper names the page and its address. Said earlier it would have the whole page styled once more.
  const nameSheets = () => {
    page.style.setProperty("--title", JSON.stringify(document.title));
    page.style.setProperty("--address", JSON.stringify(book.address.replace(/^file:.*/, "")));
  };
  // Paper shows everything.
  const unfoldFor = (box) => {
    box.open = true;
    addEventListener("afterprint", () => (box.open = false), { once: true });
  };
  addEventListener("beforeprint", () => {
    nameSheets();
    findAll("details:not([open])").forEach(unfoldFor);
  });

  // A link into something folded opens it.
  const unfold = () => {
    for (let box = book.named(location.hash); box; box = box.parentElement) {
      if (box.tagName === "DETAILS") box.open = true;
    }
  };
  addEventListener("hashchange", unfold);
  unfold();
}
