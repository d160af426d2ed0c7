"""The directive {fact-map}: the facts of facts.toml, page by page, each with a link to its statement."""

import tomllib
from pathlib import Path

from sphinx.util.docutils import SphinxDirective


def ledger(env):
    """The facts by id; the page that is being read depends on them."""
    path = Path(env.srcdir, "book", "facts.toml")
    env.note_dependency(str(path))
    return tomllib.loads(path.read_text(encoding="utf8"))


class FactMap(SphinxDirective):
    """Without an argument all facts; with one, the facts of that page."""

    optional_arguments = 1

    def run(self):
        facts = ledger(self.env)
        pages = [self.arguments[0]] if self.arguments else list(dict.fromkeys(f["page"] for f in facts.values()))
        lines = []
        for page in pages:
            lines += [f"**{{doc}}`{page}`**", ""]
            lines += [
                f"- {{prf:ref}}`{id} <{id}>` (`{id}`): {fact['line']}"
                for id, fact in facts.items()
                if fact["page"] == page
            ]
            lines.append("")
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app):
    app.add_directive("fact-map", FactMap)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
