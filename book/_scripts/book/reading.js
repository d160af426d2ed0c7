{
  const { findAll } = book;

  findAll(".scroll, .table-scroll, pre").forEach(book.reach);

  // The list of sections marks the one being read.
  const entries = new Map(findAll(".sections a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const passed = new IntersectionObserver(
    (seen) => {
      for (const { target, isIntersecting } of seen) {
        if (!isIntersecting) continue;
        for (const link of entries.values()) link.classList.toggle("here", link === entries.get(target.id));
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  entries.forEach((_, id) => passed.observe(document.getElementById(id)));

  // Paper shows everything; a link into something folded opens it.
  addEventListener("beforeprint", () =>
    findAll("details:not([open])").forEach((box) => {
      box.open = true;
      addEventListener(
        "afterprint",
        () => {
          box.open = false;
        },
        { once: true },
      );
    }),
  );
  const unfold = () => {
    for (let box = document.getElementById(decodeURIComponent(location.hash.slice(1))); box; box = box.parentElement) {
      if (box.tagName === "DETAILS") box.open = true;
    }
  };
  addEventListener("hashchange", unfold);
  unfold();
  // What lies above the place that was asked for has its true height only once it was near the screen.
  const land = (again) => {
    document.querySelector(":target")?.scrollIntoView();
    if (again) requestAnimationFrame(() => land(again - 1));
  };
  addEventListener("load", () => land(4));
}
