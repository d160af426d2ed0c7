"""What people get wrong: each entry, a paragraph that starts in bold, becomes a section with a heading and a link."""

import re

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

TITLE = "What people get wrong"
LONGEST_NAME = 60


class Mistakes(SphinxTransform):
    # After targets have given their ids to what follows them.
    default_priority = 700

    def apply(self, **kwargs):
        for section in self.document.findall(nodes.section):
            if section[0].astext() == TITLE:
                self.part(section)

    def part(self, section):
        """Gives each entry a section of its own, with all that follows up to the next entry."""
        entry = section
        for child in section.children[1:]:
            if isinstance(child, nodes.section):
                break
            parts = [part for part in child.children if part.astext()]  # MyST puts an empty text before what is bold
            if isinstance(child, nodes.paragraph) and parts and isinstance(parts[0], nodes.strong):
                entry = self.entry(child, *parts)
                section.remove(child)
                section += entry
            elif entry is not section:
                section.remove(child)
                entry += child

    def entry(self, paragraph, bold, *rest):
        rest = list(rest)
        entry = nodes.section("", nodes.title("", "", *bold.children), ids=[name_of(bold), *paragraph["ids"]])
        entry.source, entry.line = paragraph.source, paragraph.line
        if entry["ids"][0] in self.document.ids:
            logger.warning("two entries have the same name, %s", entry["ids"][0], location=paragraph)
        self.document.ids |= dict.fromkeys(entry["ids"], entry)
        paragraph["ids"], paragraph.children = [], []
        if rest and isinstance(rest[0], nodes.Text):
            rest[0] = nodes.Text(rest[0].lstrip())
        paragraph += rest
        if paragraph.astext():
            entry += paragraph
        return entry


def name_of(bold):
    """The id of an entry: its first words, without formulas."""
    words = "".join(part.astext() for part in bold.children if not isinstance(part, nodes.math))
    name = nodes.make_id("wrong " + re.sub("[’']", "", words))
    return name if len(name) <= LONGEST_NAME else name[:LONGEST_NAME].rpartition("-")[0]


def setup(app):
    app.add_transform(Mistakes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
