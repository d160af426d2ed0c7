{
  const WORD = /\d+(?:\.\d+)?(?:e[+-]?\d+)?|[\p{L}\p{Nd}_]+/gu;

  // How text is read: that of the pages when the index is built, and the reader's when it is asked. A word of several
  // spellings, or a phrase, is one term; `raw` holds the words as they stand, for who has not finished typing.
  book.reader = ({ same, stop, spelling }) => {
    const idle = new Set(stop);
    const beginnings = Object.entries(spelling).sort(([a], [b]) => b.length - a.length);
    const phrases = new Map();

    const plain = (word) => {
      const typed = word.toLowerCase();
      const [british, american] = beginnings.find(([beginning]) => typed.startsWith(beginning)) ?? ["", ""];
      const term = american + typed.slice(british.length);
      return term.length > 3 && term.endsWith("s") && !term.endsWith("ss") ? term.slice(0, -1) : term;
    };
    const split = (text) =>
      [...text.matchAll(WORD)].map(({ 0: word, index }) => ({
        term: plain(word),
        idle: idle.has(word.toLowerCase()) || /^[a-z\d]$/i.test(word),
        from: index,
        to: index + word.length,
      }));

    for (const [first, ...others] of same) {
      const term = split(first)
        .map((word) => word.term)
        .join("_");
      for (const phrase of [first, ...others]) {
        phrases.set(
          split(phrase)
            .map((word) => word.term)
            .join(" "),
          term,
        );
      }
    }
    const longest = Math.max(...[...phrases.keys()].map((phrase) => phrase.split(" ").length));

    return (text) => {
      const words = split(text);
      const found = [];
      for (let at = 0; at < words.length;) {
        let count = Math.min(longest, words.length - at);
        const key = () =>
          words
            .slice(at, at + count)
            .map((word) => word.term)
            .join(" ");
        while (count > 1 && !phrases.has(key())) count--;
        const group = words.slice(at, at + count);
        const term = phrases.get(key());
        const raw = group.filter((word) => !word.idle).map((word) => word.term);
        const pieces = raw.flatMap((word) => (word.includes("_") ? word.split("_").filter(Boolean) : []));
        if (term || raw.length)
          found.push({ term: term ?? raw[0], raw: [...raw, ...pieces], from: group[0].from, to: group.at(-1).to });
        at += count;
      }
      return found;
    };
  };
}
