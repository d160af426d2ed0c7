// The figure of the first page: the entries of a vector can be dragged, and each step of the layer follows. It takes the
// place of the picture that stands there without a script, and begins with its numbers.
const stepsFigure = (figure) => {
  const { make, findAll } = book;
  const START = { z: [3, 1, 4, 1, 6], gain: [1, -1, 2, 0.5, 1], bias: [0.5, 1, 0, 1, 1], eps: 1e-5 };
  // Inputs stay between these, so that no centred vector leaves the panels.
  const [LEAST, MOST] = [-3, 7];
  const REACH = 8.4; // a panel shows the values from -REACH to REACH
  const narrow = matchMedia("(width < 36rem)").matches;
  const HEIGHT = narrow ? 165 : 220;
  const STEP = 0.1;
  const MARKERS = {
    circle: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0z",
    square: "M-4.5-4.5h9v9h-9z",
    diamond: "M0-6 6 0 0 6-6 0z",
    up: "M0-6 5.5 4.5h-11z",
    down: "M0 6 5.5-4.5h-11z",
  };
  const PANELS = [
    { name: "input", symbol: "z", colour: "input", marker: "circle" },
    { name: "centred", symbol: "v", colour: "centred", marker: "square" },
    { name: "core", symbol: "u", colour: "core", marker: "diamond" },
    { name: "stretched", symbol: "γ ⊙ u", colour: "gain", marker: "up" },
    { name: "output", symbol: "y", colour: "bias", marker: "down" },
  ];

  const heightOf = (value) => (HEIGHT / 2) * (1 - value / REACH);
  const show = (x, digits = 4) => {
    const rounded = Number(x.toPrecision(digits));
    return (rounded === 0 ? "0" : String(rounded)).replace("-", "−");
  };
  const said = (x) => show(x).replace("−", "minus ");
  const svg = (tag, attributes, ...children) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    element.append(...children);
    return element;
  };

  // The vector after each step, in the order of the panels.
  const stages = ({ z, gain, bias, eps }) => {
    const centred = workbench.center(z);
    const v = centred.v.map((x) => x * 2 ** centred.exponent);
    const { u } = workbench.divide(centred.v, centred.exponent, eps, z.length, false);
    const stretched = u.map((x, i) => gain[i] * x);
    return [z, v, u, stretched, stretched.map((x, i) => x + bias[i])];
  };
  const meanOf = (values) => values.reduce((sum, x) => sum + x, 0) / values.length;
  // The mean is 0 up to rounding behind the first step.
  const tidy = (x) => (Math.abs(x) < 1e-12 ? 0 : x);

  const state = structuredClone(START);

  const panels = PANELS.map(({ name, symbol, colour, marker }, number) => {
    const entries = state.z.map((_, i) => {
      const stem = svg("line", { x1: 0, x2: 0, y1: heightOf(0) });
      const mark = svg("g", {}, svg("path", { d: MARKERS[marker] }));
      const entry = svg("g", {}, stem, mark);
      if (number === 0) {
        const attributes = { role: "slider", tabindex: 0, "aria-label": `entry ${i + 1} of the input` };
        Object.entries({ ...attributes, "aria-orientation": "vertical" }).forEach(([k, v]) => entry.setAttribute(k, v));
        entry.setAttribute("aria-valuemin", LEAST);
        entry.setAttribute("aria-valuemax", MOST);
        mark.prepend(svg("ellipse", { rx: narrow ? 24 : 12, ry: 24, class: "grip" }));
      }
      return { entry, stem, mark };
    });
    const mean = svg("line", { x1: "14%", x2: "100%", class: "mean" });
    const ticks = [-5, 0, 5].map((tick) => svg("text", { x: 0, y: heightOf(tick) + 4 }, show(tick)));
    const drawing = svg(
      "svg",
      { width: "100%", height: HEIGHT, class: colour },
      ...ticks,
      svg("line", { x1: "14%", x2: "100%", y1: heightOf(0), y2: heightOf(0), class: "zero" }),
      mean,
      ...entries.map(({ entry }, i) => svg("svg", { x: `${22 + 17 * i}%`, overflow: "visible" }, entry)),
    );
    if (number > 0) drawing.setAttribute("role", "img");
    const words = make("p", { className: "numbers" });
    const title = make("p", { className: colour }, `${name} `, make("i", {}, symbol));
    return { box: make("div", { className: "panel" }, title, drawing, words), entries, mean, drawing, words, name };
  });

  const draw = () => {
    const vectors = stages(state);
    panels.forEach(({ entries, mean, drawing, words, name }, number) => {
      const vector = vectors[number];
      entries.forEach(({ stem, mark }, i) => {
        stem.setAttribute("y2", heightOf(vector[i]));
        mark.setAttribute("transform", `translate(0 ${heightOf(vector[i])})`);
      });
      const average = tidy(meanOf(vector));
      mean.setAttribute("y1", heightOf(average));
      mean.setAttribute("y2", heightOf(average));
      const variance = meanOf(vector.map((x) => (x - average) ** 2));
      words.textContent = `mean ${show(average, 6)}\nvariance ${show(variance, 6)}`;
      if (number > 0) drawing.setAttribute("aria-label", `${name}: ${vector.map((x) => said(tidy(x))).join(", ")}`);
    });
    panels[0].entries.forEach(({ entry }, i) => {
      entry.setAttribute("aria-valuenow", state.z[i]);
      entry.setAttribute(
        "aria-valuetext",
        `${said(state.z[i])}, core ${said(vectors[2][i])}, output ${said(vectors[4][i])}`,
      );
    });
    up.disabled = Math.max(...state.z) + 1 > MOST;
    down.disabled = Math.min(...state.z) - 1 < LEAST;
  };

  const set = (i, value) => {
    // Whole multiples of the step, and no rest of binary fractions.
    state.z[i] = Math.round(Math.min(MOST, Math.max(LEAST, value)) / STEP) / Math.round(1 / STEP);
    draw();
  };
  const setAll = (z) => {
    z.forEach((value, i) => {
      state.z[i] = value;
    });
    draw();
  };

  const KEYS = {
    ArrowUp: (x) => x + STEP,
    ArrowRight: (x) => x + STEP,
    ArrowDown: (x) => x - STEP,
    ArrowLeft: (x) => x - STEP,
    PageUp: (x) => x + 1,
    PageDown: (x) => x - 1,
    Home: () => LEAST,
    End: () => MOST,
  };
  panels[0].entries.forEach(({ entry }, i) => {
    entry.addEventListener("keydown", (event) => {
      if (!(event.key in KEYS) || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      set(i, KEYS[event.key](state.z[i]));
    });
    entry.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      entry.focus({ preventScroll: true });
      entry.setPointerCapture(event.pointerId);
    });
    entry.addEventListener("pointermove", (event) => {
      if (!entry.hasPointerCapture(event.pointerId)) return;
      const y = event.clientY - panels[0].drawing.getBoundingClientRect().top;
      set(i, REACH * (1 - (2 * y) / HEIGHT));
    });
  });

  const button = (words, onclick) => make("button", { type: "button", onclick }, words);
  const up = button("All up by 1", () => setAll(state.z.map((x) => x + 1)));
  const down = button("All down by 1", () => setAll(state.z.map((x) => x - 1)));
  const equal = button("All equal", () => setAll(state.z.map(() => Math.round(meanOf(state.z)))));
  const again = button("Start again", () => {
    Object.assign(state, structuredClone(START));
    epsilon.value = String(START.eps);
    draw();
  });
  const epsilon = make(
    "select",
    {
      onchange: () => {
        state.eps = Number(epsilon.value);
        draw();
      },
    },
    ...[1e-5, 0.1, 1, 10].map((eps) => make("option", { value: String(eps) }, eps === 1e-5 ? "0.00001" : String(eps))),
  );

  const alive = make(
    "div",
    { className: "steps-alive" },
    make("p", {}, "Drag the five entries of the input, or move them with the arrow keys."),
    make("div", { className: "panels" }, ...panels.map(({ box }) => box)),
    make("div", { className: "controls" }, make("label", {}, "ε ", epsilon), up, down, equal, again),
  );
  draw();
  findAll(".ln-figure", figure).forEach((still) => (still.closest(".scroll") ?? still).replaceWith(alive));
};

document.querySelectorAll("#fig-steps").forEach(stepsFigure);
