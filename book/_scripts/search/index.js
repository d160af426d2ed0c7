{
  // How much a word counts, by where it stands and in what.
  const FIELDS = { title: 6, fact: 4, words: 6, page: 2, section: 1.5, text: 1, code: 0.4 };
  const KINDS = { Page: 1.6, Term: 1.2, Settled: 1.4, Section: 1, Mistake: 1, Exercise: 0.7 };
  const STATEMENT = 1.2;
  // How much more an entry of Settled counts, which is a question itself, if a question or a sentence is asked.
  const ASKED = 1.6;
  const QUESTION = /^(are|can|could|do|does|how|is|may|must|should|what|when|where|which|why)\b|\?$/i;
  // How much more an exercise counts if exercises are asked for.
  const NAMED = 2;
  // Results that have some of the words only follow where there are fewer than these with all.
  const ENOUGH = 4;
  // So many words are a sentence: few entries have them all, and an entry that answers may have others.
  const SENTENCE = 4;
  // A word that this part of all entries have tells little beside another one, and an entry may do without it.
  const EVERYWHERE = 0.2;
  const LITTLE = 0.3;

  const options = (read) => ({
    fields: Object.keys(FIELDS),
    tokenize: (text) => read(text).flatMap(({ term, raw }) => [...new Set([term, ...raw])]),
    processTerm: (term) => term,
  });

  book.indexOf = ({ reading, entries }) => {
    const index = new MiniSearch(options(book.reader(reading)));
    index.addAll(entries.map((entry, id) => ({ ...entry, id })));
    return index;
  };

  // What an entry says around the words that were found, in pieces; every second one was found. Of its text and its code
  // the first in which there are such words.
  const snippet = (read, terms, parts) => {
    const found = (text) =>
      read(text).filter(({ term, raw }) => terms.has(term) || raw.some((word) => terms.has(word)));
    const text = parts.find((part) => found(part).length) ?? parts[0];
    const hits = found(text);
    const near = (hit) =>
      new Set(hits.filter(({ from, to }) => from >= hit.from && to < hit.from + 120).map((h) => h.term));
    const first = hits.reduce((best, hit) => (best && near(best).size >= near(hit).size ? best : hit), null);
    const start = first && first.from > 60 ? text.indexOf(" ", first.from - 60) + 1 : 0;
    const end = start + 180 < text.length ? text.lastIndexOf(" ", start + 180) : text.length;
    const pieces = [];
    let before = start ? "… " : "";
    let at = start;
    for (const { from, to } of hits.filter((hit) => hit.from >= start && hit.to <= end)) {
      pieces.push(before + text.slice(at, from), text.slice(from, to));
      before = "";
      at = to;
    }
    return [...pieces, before + text.slice(at, end) + (end < text.length ? " …" : "")];
  };

  book.searcher = ({ reading, entries, index }) => {
    const read = book.reader(reading);
    const mini = MiniSearch.loadJS(index, options(read));
    const terms = (query) => read(query).map(({ term }) => term);
    const exact = { tokenize: (term) => [term], boost: FIELDS };
    // A word that no page has is spelled in another way, perhaps.
    const known = (term) => mini.search(term, { ...exact, prefix: true }).length;
    const common = (term) => mini.search(term, exact).length > EVERYWHERE * entries.length;
    const every = {
      boost: FIELDS,
      prefix: (term, at, all) => term.length > 2 || at === all.length - 1,
      fuzzy: (term) => term.length > 4 && !known(term) && 0.25,
    };
    return (query) => {
      const label = query.trim().toLowerCase().replace(/\s+/g, "-");
      const words = terms(query);
      const telling = words.filter((term) => !common(term));
      const sentence = words.length >= SENTENCE;
      const question = sentence || (words.length > 1 && QUESTION.test(query.trim()));
      const weighed = {
        boostTerm: (term) => (telling.length && !telling.includes(term) ? LITTLE : 1),
        boostDocument: (id) => {
          const [kind] = entries[id].kind.split(/[: ]/);
          const asked = kind === "Settled" && question ? ASKED : 1;
          const named = kind === "Exercise" && words.includes("exercise") ? NAMED : 1;
          return (KINDS[kind] ?? STATEMENT) * asked * named;
        },
      };
      const all = { combineWith: "AND", tokenize: () => (telling.length ? telling : words) };
      const some = { combineWith: "OR", tokenize: () => words };
      const results = new Map();
      const own = entries.findIndex(({ fact }) => fact === label);
      if (own >= 0) results.set(own, new Set(terms(label)));
      for (const way of sentence ? [some] : [all, some]) {
        if (results.size >= ENOUGH) break;
        for (const { id, match } of mini.search(query, { ...every, ...weighed, ...way })) {
          if (!results.has(id)) results.set(id, new Set(Object.keys(match)));
        }
      }
      return {
        results: [...results].map(([id, terms]) => ({
          ...entries[id],
          snippet: (parts) => snippet(read, terms, parts),
        })),
        suggestions: () =>
          mini
            .autoSuggest(query, { fuzzy: 0.4, prefix: true, combineWith: "OR", tokenize: terms })
            .map(({ suggestion }) => suggestion.replaceAll("_", " "))
            .slice(0, 5),
      };
    };
  };
}
