{
  const { findAll, page } = book;

  // Below the first screen the style sheet has nothing laid out while a page comes; here the rest follows in pieces too
  // short to be noticed, until the place that was asked for, and everything else, has its true height.
  const sections = "[data-coming] article > section section:not(.proof *, .exercise *)";
  const waiting = findAll(`${sections} > :not(section, h2, h3, h4)`);
  const soon = window.requestIdleCallback ?? ((act) => setTimeout(act, 1));
  let moved = false,
    start;
  for (const kind of ["wheel", "touchmove", "keydown", "pointerdown"])
    addEventListener(kind, () => (moved = true), { once: true, passive: true });
  const layOut = () => {
    // The longer it takes on a slow machine, the longer the pieces: all is there within seconds.
    const now = performance.now();
    const end = now + 8 + (now - start) ** 2 / 1e5;
    while (waiting.length && performance.now() < end) {
      const block = waiting.shift();
      block.classList.add("came");
      void block.offsetHeight;
    }
    if (location.hash && !moved) book.named(location.hash)?.scrollIntoView();
    if (waiting.length) soon(layOut, { timeout: 100 });
    else delete page.dataset.coming;
  };
  addEventListener("load", () => {
    start = performance.now();
    soon(layOut, { timeout: 100 });
  });
}
