"""What is made of each page once, and kept with Sphinx's environment until the page is read again."""


def keep(app, name, make, priority):
    """Before HTML is written, `env.<name>` holds make(app, docname) for each page."""

    def forget(app, env, docname):
        vars(env).setdefault(name, {}).pop(docname, None)

    def fill(app, env):
        if app.builder.format != "html":
            return
        values = vars(env).setdefault(name, {})
        values.update({docname: make(app, docname) for docname in sorted(env.found_docs - values.keys())})

    app.connect("env-purge-doc", forget)
    app.connect("env-updated", fill, priority=priority)
