"""Loads the workbench's script and style on its own page and nowhere else."""


def load(app, pagename, templatename, context, doctree):
    if pagename == "book/workbench":
        app.add_js_file("workbench.js", loading_method="defer")
        app.add_css_file("workbench.css")


def setup(app):
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
