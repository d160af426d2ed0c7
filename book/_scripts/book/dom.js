// What a page does beyond reading: theme, search, previews of references, keys, copying. No library, no request leaves
// the site, and everything works from file:// too: what is fetched later is a script that calls book.receive().
const book = { page: document.documentElement, received: {}, loading: {} };

book.find = (selector, from = document) => from.querySelector(selector);
book.findAll = (selector, from = document) => [...from.querySelectorAll(selector)];
book.make = (tag, properties, ...children) => {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
};
book.named = (hash) => document.getElementById(decodeURIComponent(hash.slice(1)));

book.root = new URL(book.page.dataset.content_root ?? "", location.href);
// Where the page is to be found.
book.address = (book.find("link[rel=canonical]")?.href ?? location.href).split("#")[0];
book.receive = (name, value) => {
  book.received[name] = value;
};
book.load = (name) =>
  (book.loading[name] ??= new Promise((resolve, reject) => {
    const src = new URL(`_static/${name}.js`, book.root).href;
    document.head.append(book.make("script", { src, onload: () => resolve(book.received[name]), onerror: reject }));
  }));

// Scrolls a list, and nothing else, until its entry can be seen.
book.centre = (entry, list) => {
  if (!entry) return;
  const at = entry.getBoundingClientRect(),
    box = list.getBoundingClientRect();
  if (at.top < box.top || at.bottom > box.bottom) list.scrollTop += at.top - box.top - box.height / 3;
};

// Boxes wider than the page are reached by the keyboard, the others are passed over.
book.boxes = new ResizeObserver((entries) => {
  // All are measured before one is changed: else each would be laid out once more.
  const boxes = entries.map(({ target }) => [target, target.scrollWidth > target.clientWidth]);
  for (const [box, scrolls] of boxes) {
    box.classList.toggle("scrolls", scrolls);
    if (scrolls) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
});
book.reach = (box) => book.boxes.observe(box);
