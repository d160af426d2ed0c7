{
  const { find, findAll } = book;

  // A long table in folded parts, of which only the rows are shown that hold all the words typed above it.
  for (const filter of findAll(".filter")) {
    const count = find("output", filter);
    const parts = findAll("details.group", filter.parentElement).map((box) => ({
      box,
      rows: findAll("tbody tr", box).map((row) => [
        row,
        `${find("summary", box).textContent} ${row.textContent}`.toLowerCase(),
      ]),
    }));
    find("input", filter).addEventListener("input", ({ target }) => {
      const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { box, rows } of parts) {
        for (const [row, text] of rows) row.hidden = !words.every((word) => text.includes(word));
        const found = rows.filter(([row]) => !row.hidden).length;
        box.hidden = !found;
        box.open = words.length > 0;
        shown += found;
      }
      count.value = words.length ? `${shown || "No"} fact${shown === 1 ? "" : "s"}` : "";
    });
  }
}
