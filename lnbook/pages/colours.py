"""One colour for one thing, for both themes: what the figures are drawn in, and the pages written in."""

# name: (on the light page, on the dark page). Each colour has a contrast of at least 4.5 to its page, and the
# seven that stand for things stay apart for every kind of colour vision (tests/test_figures.py); they also differ in
# line style or marker.
COLOURS = {
    "ink": ("#1f2328", "#e6edf3"),
    "faint": ("#6e7781", "#9aa4ae"),
    "paper": ("#ffffff", "#14181e"),
    "input": ("#181a1c", "#e1e3e5"),
    "centred": ("#128757", "#55fa8f"),
    "core": ("#113aa2", "#91baff"),
    "gain": ("#563110", "#e8b521"),
    "bias": ("#8f0165", "#d552a0"),
    "epsilon": ("#e32c08", "#f04940"),
    "bound": ("#a408fe", "#9a6efc"),
}
