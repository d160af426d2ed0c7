{
  const { find, findAll, make } = book;
  const SHOWN = 20;

  // The form of the search, in its box and on its page: book.load("search") gives it.
  book.receive("search", (start = "") => {
    const input = make("input", {
      type: "search",
      name: "q",
      value: start,
      autocomplete: "off",
      spellcheck: false,
      ariaLabel: "Search the book",
      placeholder: "Words, a question or a fact’s id",
    });
    const count = make("p", { className: "count", role: "status" });
    const list = make("ol", { className: "results" });
    const questions = make("a", { href: new URL("book/questions.html", book.root).href }, "All questions and answers");
    const below = make("p", { className: "suggestions" }, questions);
    let loading;
    const searcher = () => (loading ??= book.load("search-index").then(book.searcher));

    const item = ({ title, kind, fact, page, section, url, at, snippet }) => {
      const place = [...new Set([page, section])].filter((name) => name && name !== title).join(" › ");
      const text = make("span", {});
      book
        .load(`search/${url.match(/([\w-]+)\.html/)[1]}`)
        .then((texts) =>
          text.append(...snippet(texts[at]).map((piece, i) => (i % 2 ? make("mark", {}, piece) : piece))),
        );
      return make(
        "li",
        {},
        make(
          "a",
          { href: new URL(url, book.root).href },
          make("strong", {}, title),
          make("small", {}, [place, kind, fact].filter(Boolean).join(" · ")),
          text,
        ),
      );
    };
    const suggestion = (words) => make("button", { type: "button", onclick: () => ask(words) }, words);
    const show = async () => {
      const search = await searcher();
      const { results, suggestions } = search(input.value);
      const asked = input.value.trim();
      const nothing = asked && !results.length;
      const others = nothing ? suggestions() : [];
      count.textContent = nothing
        ? `Nothing in the book has these words.${others.length ? " Did you mean one of these?" : ""}`
        : asked && `${results.length} result${results.length === 1 ? "" : "s"}`;
      list.replaceChildren(...results.slice(0, SHOWN).map(item));
      below.replaceChildren(...others.map(suggestion), questions);
    };
    const ask = (words) => {
      input.value = words;
      input.focus();
      show();
    };

    input.addEventListener("focus", searcher);
    input.addEventListener("input", show);
    const form = make("form", { className: "search", role: "search" }, input, count, list, below);
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
  });
}
