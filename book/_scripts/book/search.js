{
  const { find, findAll, make } = book;

  // Search over titles, ids and words; the last word may be unfinished.
  const score = (entry, words) => {
    const title = entry.title.toLowerCase(),
      text = entry.text.toLowerCase(),
      id = entry.id.toLowerCase();
    let sum = 0;
    for (const word of words) {
      const starts = (where) => where.startsWith(word) || where.includes(` ${word}`) || where.includes(`-${word}`);
      const found =
        (id === word) * 40 +
        starts(id) * 12 +
        starts(title) * 12 +
        title.includes(word) * 4 +
        starts(text) * 2 +
        text.includes(word);
      if (!found) return 0;
      sum += found;
    }
    return sum + 8 * (entry.kind !== "Section") + 20 * (id === words.join("-") || title === words.join(" "));
  };

  const marked = (text, words) => {
    const at = words.map((word) => text.toLowerCase().indexOf(word)).filter((i) => i >= 0);
    const start = Math.max(0, Math.min(...(at.length ? at : [0])) - 60);
    const from = start ? text.indexOf(" ", start) + 1 : 0;
    const excerpt = text.slice(from, from + 180);
    const pattern = new RegExp(`(${words.map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")).join("|")})`, "gi");
    return [
      from ? "… " : "",
      ...excerpt.split(pattern).map((part, i) => (i % 2 ? make("mark", {}, part) : part)),
      from + 180 < text.length ? " …" : "",
    ];
  };

  const searchForm = (start = "") => {
    const input = make("input", {
      type: "search",
      name: "q",
      value: start,
      autocomplete: "off",
      spellcheck: false,
      ariaLabel: "Search the book",
      placeholder: "A fact’s name, id or words",
    });
    const count = make("p", { className: "count", role: "status" });
    const list = make("ol", { className: "results" });
    const show = async () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const entries = await book.load("search-data");
      const hits = words.length
        ? entries
            .map((entry) => [score(entry, words), entry])
            .filter(([points]) => points)
            .sort(([a], [b]) => b - a)
            .map(([, entry]) => entry)
        : [];
      count.textContent = words.length ? `${hits.length || "No"} result${hits.length === 1 ? "" : "s"}` : "";
      list.replaceChildren(
        ...hits
          .slice(0, 20)
          .map((entry) =>
            make(
              "li",
              {},
              make(
                "a",
                { href: new URL(entry.url, book.root).href },
                make("strong", {}, entry.title),
                make("small", {}, [entry.kind, entry.id, entry.page].filter(Boolean).join(" · ")),
                make("span", {}, ...marked(entry.text, words)),
              ),
            ),
          ),
      );
    };
    input.addEventListener("input", show);
    const form = make("form", { className: "search", role: "search" }, input, count, list);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      find("a", list)?.click();
    });
    form.addEventListener("keydown", (event) => {
      const stops = [input, ...findAll("a", list)];
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const to = step && stops[stops.indexOf(document.activeElement) + step];
      if (to) {
        to.focus();
        event.preventDefault();
      }
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
      dialog.addEventListener("keydown", (event) => {
        if (event.key === "Escape") dialog.close();
      });
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
}
