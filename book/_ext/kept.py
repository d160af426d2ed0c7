"""What is made of each page once, and kept with Sphinx's environment until the page is read again."""

from sphinx.environment.collectors import EnvironmentCollector


def collect(app, name, make):
    """Once a page is read, `env.<name>` holds make(app, document) for it."""

    class Collector(EnvironmentCollector):
        def process_doc(self, app, doctree):
            kept(app.env)[app.env.docname] = make(app, doctree)

        def clear_doc(self, app, env, docname):
            kept(env).pop(docname, None)

        def merge_other(self, app, env, docnames, other):
            kept(env).update((page, value) for page, value in kept(other).items() if page in docnames)

    def kept(env):
        return vars(env).setdefault(name, {})

    app.add_env_collector(Collector)


def keep(app, name, make, priority):
    """The same, where all pages must be read first: before HTML is written `env.<name>` holds make(app, docname)."""

    def forget(app, env, docname):
        vars(env).setdefault(name, {}).pop(docname, None)

    def fill(app, env):
        if app.builder.format != "html":
            return
        values = vars(env).setdefault(name, {})
        values.update({docname: make(app, docname) for docname in sorted(env.found_docs - values.keys())})

    app.connect("env-purge-doc", forget)
    app.connect("env-updated", fill, priority=priority)
