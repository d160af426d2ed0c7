// What a page does beyond reading: theme, search, previews of references, keys, copying. No library, no request leaves
// the site, and everything works from file:// too: what is fetched later is a script that calls book.receive().
const book = { received: {} };
book.receive = (name, value) => { book.received[name] = value; };

{
  const page = document.documentElement;
  const root = new URL(page.dataset.content_root, location.href);
  const find = (selector, from = document) => from.querySelector(selector);
  const findAll = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const loading = {};
  book.load = (name) => loading[name] ??= new Promise((resolve, reject) => {
    const src = new URL(`_static/${name}.js`, root).href;
    document.head.append(make("script", { src, onload: () => resolve(book.received[name]), onerror: reject }));
  });

  // Theme: the system's, or the reader's choice, kept for the next page.
  const themes = ["system", "light", "dark"];
  const themeButton = find("button.theme");
  const showTheme = () => { themeButton.textContent = `Theme: ${page.dataset.theme ?? "system"}`; };
  themeButton.addEventListener("click", () => {
    const next = themes[(themes.indexOf(page.dataset.theme ?? "system") + 1) % themes.length];
    if (next === "system") delete page.dataset.theme; else page.dataset.theme = next;
    try { localStorage.setItem("theme", next === "system" ? "" : next); } catch { /* it holds on this page only */ }
    showTheme();
  });
  showTheme();
  themeButton.hidden = false;

  // Search over titles, ids and words; the last word may be unfinished.
  const score = (entry, words) => {
    const title = entry.title.toLowerCase(), text = entry.text.toLowerCase(), id = entry.id.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const starts = (where) => where.startsWith(word) || where.includes(` ${word}`) || where.includes(`-${word}`);
      const found = (id === word) * 40 + starts(id) * 12 + starts(title) * 12 + title.includes(word) * 4
        + starts(text) * 2 + text.includes(word);
      if (!found) return 0;
      sum += found;
    }
    return sum + 8 * (entry.kind !== "Section") + 20 * (id === words.join("-") || title === words.join(" "));
  };
  const marked = (text, words) => {
    const at = words.map((word) => text.toLowerCase().indexOf(word)).filter((i) => i >= 0);
    const start = Math.max(0, Math.min(...at.length ? at : [0]) - 60);
    const from = start ? text.indexOf(" ", start) + 1 : 0;
    const excerpt = text.slice(from, from + 180);
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|")})`, "gi");
    return [from ? "… " : "", ...excerpt.split(pattern).map((part, i) => i % 2 ? make("mark", {}, part) : part),
      from + 180 < text.length ? " …" : ""];
  };
  const searchForm = (start = "") => {
    const input = make("input", { type: "search", name: "q", value: start, autocomplete: "off", spellcheck: false,
      ariaLabel: "Search the book", placeholder: "A fact’s name, id or words" });
    const count = make("p", { className: "count", role: "status" });
    const list = make("ol", { className: "results" });
    const show = async () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const entries = await book.load("search-data");
      const hits = words.length ? entries.map((entry) => [score(entry, words), entry]).filter(([points]) => points)
        .sort(([a], [b]) => b - a).map(([, entry]) => entry) : [];
      count.textContent = words.length ? `${hits.length || "No"} result${hits.length === 1 ? "" : "s"}` : "";
      list.replaceChildren(...hits.slice(0, 20).map((entry) => make("li", {}, make("a", { href: new URL(entry.url, root).href },
        make("strong", {}, entry.title), make("small", {}, [entry.kind, entry.id, entry.page].filter(Boolean).join(" · ")),
        make("span", {}, ...marked(entry.text, words))))));
    };
    input.addEventListener("input", show);
    const form = make("form", { className: "search", role: "search" }, input, count, list);
    form.addEventListener("submit", (event) => { event.preventDefault(); find("a", list)?.click(); });
    form.addEventListener("keydown", (event) => {
      const stops = [input, ...findAll("a", list)];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const to = step && stops[stops.indexOf(document.activeElement) + step];
      if (to) { to.focus(); event.preventDefault(); }
    });
    if (start) show();
    return form;
  };
  const dialog = make("dialog", { className: "search-box", ariaLabel: "Search" });
  document.body.append(dialog);
  const openSearch = () => {
    if (!dialog.firstChild) {
      const close = make("button", { type: "button", onclick: () => dialog.close() }, "Close");
      dialog.append(searchForm(), close);
      // A browser's first Escape only empties the field.
      dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") dialog.close(); });
      dialog.addEventListener("click", (event) => {
        if (event.target === dialog || event.target.closest(".results a")) dialog.close();
      });
    }
    dialog.showModal();
    find("input", dialog).select();
  };
  const searchButton = find(".search-open");
  searchButton.addEventListener("click", openSearch);
  searchButton.hidden = false;
  find("#search-page")?.append(searchForm(new URLSearchParams(location.search).get("q") ?? ""));

  // Keys: / searches, the arrows turn pages; never while the reader types or moves a slider.
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey || dialog.open) return;
    if (event.target.closest("input, textarea, select, [contenteditable], [role=slider], .scrolls, pre")) return;
    if (event.key === "/") { event.preventDefault(); openSearch(); }
    if (event.key === "ArrowLeft") find(".neighbours .prev")?.click();
    if (event.key === "ArrowRight") find(".neighbours .next")?.click();
  });

  // Previews of what a reference names: a statement, an equation, a term, a source.
  const preview = make("div", { id: "preview", role: "tooltip", hidden: true });
  document.body.append(preview);
  let shown = null, wanted = null, timer = 0;
  const hide = () => {
    clearTimeout(timer);
    wanted = null;
    shown?.removeAttribute("aria-describedby");
    shown = null;
    preview.hidden = true;
  };
  const show = async (link) => {
    const url = new URL(link.href);
    const name = url.pathname.split("/").pop().replace(/\.html$/, "");
    const parts = await book.load(`previews/${name}`).catch(() => undefined);
    const html = parts?.[decodeURIComponent(url.hash.slice(1))];
    if (wanted !== link || !html) return;
    preview.innerHTML = html;
    for (const element of findAll("[id]", preview)) element.removeAttribute("id");
    for (const inner of findAll("a[href]", preview)) inner.href = new URL(inner.getAttribute("href"), url);
    findAll(".headerlink, .fact-id", preview).forEach((element) => element.remove());
    shown?.removeAttribute("aria-describedby");
    shown = link;
    link.setAttribute("aria-describedby", "preview");
    preview.hidden = false;
    const at = link.getClientRects()[0], wide = page.clientWidth;
    const below = at.bottom + preview.offsetHeight + 12 < innerHeight || at.top < preview.offsetHeight + 12;
    preview.style.left = `${scrollX + Math.max(8, Math.min(at.left, wide - preview.offsetWidth - 8))}px`;
    preview.style.top = `${scrollY + (below ? at.bottom + 6 : at.top - preview.offsetHeight - 6)}px`;
  };
  const want = (link, delay) => {
    clearTimeout(timer);
    wanted = link;
    timer = setTimeout(show, delay, link);
  };
  const leave = () => { clearTimeout(timer); timer = setTimeout(hide, 250); };
  for (const link of findAll("article a.internal[href*='#']")) {
    link.addEventListener("mouseenter", () => want(link, 200));
    link.addEventListener("mouseleave", leave);
    link.addEventListener("focus", () => { if (link.matches(":focus-visible")) want(link, 0); });
    link.addEventListener("blur", leave);
  }
  preview.addEventListener("mouseenter", () => clearTimeout(timer));
  preview.addEventListener("mouseleave", leave);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });

  // A button that copies the code of a cell.
  for (const box of findAll("div.highlight").filter((box) => !box.closest(".cell_output"))) {
    const button = make("button", { type: "button", className: "copy" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(find("pre", box).textContent);
        button.textContent = "Copied";
      } catch { button.textContent = "Not allowed"; }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    box.append(button);
  }

  // Boxes wider than the page are reached by the keyboard, the others are passed over.
  const boxes = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    const scrolls = target.scrollWidth > target.clientWidth;
    target.classList.toggle("scrolls", scrolls);
    if (scrolls) target.tabIndex = 0; else target.removeAttribute("tabindex");
  }));
  findAll(".scroll, .table-scroll, pre").forEach((box) => boxes.observe(box));

  // The list of sections marks the one being read.
  const entries = new Map(findAll(".sections a").map((link) => [decodeURIComponent(link.hash.slice(1)), link]));
  const passed = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) {
      if (!isIntersecting) continue;
      for (const link of entries.values()) link.classList.toggle("here", link === entries.get(target.id));
    }
  }, { rootMargin: "-15% 0px -75% 0px" });
  entries.forEach((_, id) => passed.observe(document.getElementById(id)));

  // Paper shows everything; a link into something folded opens it.
  addEventListener("beforeprint", () => findAll("details:not([open])").forEach((box) => {
    box.open = true;
    addEventListener("afterprint", () => { box.open = false; }, { once: true });
  }));
  const unfold = () => {
    for (let box = document.getElementById(decodeURIComponent(location.hash.slice(1))); box; box = box.parentElement) {
      if (box.tagName === "DETAILS") box.open = true;
    }
  };
  addEventListener("hashchange", unfold);
  unfold();
}
