"""Every page for everyone: axe in both themes, on a telephone and on a desk; nothing wider than its screen."""

import pytest
from axe_playwright_python.sync_playwright import Axe

# The picture of a formula repeats its MathML in hundreds of boxes, all of the colour around them (as checked here); in
# axe's eyes one word stands for it, which takes a tenth of the time.
ONE_WORD_A_FORMULA = """() => {
  const shade = (element) => getComputedStyle(element).color;
  for (const box of document.querySelectorAll(".katex-html")) {
    const around = shade(box.closest(".math").parentElement);
    const strange = [...box.querySelectorAll("*")].find((part) => shade(part) !== around);
    if (strange) throw new Error(`a formula with a colour of its own: ${box.textContent}`);
    box.textContent = "formula";
  }
  return new Promise((resolve) => setTimeout(() => requestAnimationFrame(resolve), 200));
}"""

# The words in a slider's picture, which are paths to axe, whose contrast to the page is less than 4.5.
FAINT_LABELS = """() => {
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const page = light(getComputedStyle(document.body).backgroundColor);
  return [...document.querySelectorAll("svg .words")].filter((label) => {
    const own = light(getComputedStyle(label).fill);
    return Math.max(own / page, page / own) < 4.5;
  }).map((label) => label.outerHTML.slice(0, 80));
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_page_scrolls_sideways_and_axe_finds_nothing(pages, visit, width, theme):
    options = {"resultTypes": ["violations", "incomplete"]}
    if theme == "dark":  # only colours differ
        options["runOnly"] = ["color-contrast"]
    faults = []
    for page in pages:
        tab = visit(page, width=width, color_scheme=theme)
        tab.evaluate("document.querySelectorAll('details').forEach((box) => { box.open = true; })")
        if tab.evaluate("document.documentElement.scrollWidth") > width:
            faults.append(f"{page} is wider than {width} px")
        faults += [f"{page}: faint words in a picture: {label}" for label in tab.evaluate(FAINT_LABELS)]
        tab.evaluate(ONE_WORD_A_FORMULA)
        found = Axe().run(tab, options=options).response
        unsure = [fault for fault in found["incomplete"] if fault["id"] == "color-contrast"]
        faults += [
            f"{page}: {fault['id']}: {node['html'][:200]}: {node['failureSummary']}"
            for fault in found["violations"] + unsure
            for node in fault["nodes"]
            # A box that scrolls cuts its cells; those of the wide page are whole and have the same colours.
            if not (width == 360 and "partially obscured" in node["failureSummary"])
        ]
        tab.context.close()
    assert faults == [], "\n".join(faults)
