"""A notebook as it is taken along: it says and installs what it needs, and its text is Markdown that everything reads.

Roles become words, with a link where the book has an address (BOOK_URL) and the name of the page where it has none;
directives become their title in bold and their text.
"""

import re

from docutils import nodes
from nbformat.v4 import new_code_cell, new_markdown_cell
from publish import REPOSITORY, URL
from sphinx.errors import ExtensionError

MODULE = "lnbook.zip"
NEEDED = f"{URL}notebooks/{MODULE}" if URL else f"./{MODULE}"
INSTALL = f"lnbook[pages] @ {NEEDED}" if URL else f"{NEEDED}[pages]"

ATTRIBUTES = re.compile(r"^\{[.#][^}`]*\}\n", re.MULTILINE)
LABEL = re.compile(r"^\([\w-]+\)=\n+", re.MULTILINE)
EQUATION = re.compile(r"^\$\$ \([\w-]+\)$", re.MULTILINE)
DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,}|:{3,})\{(?P<name>[\w:-]+)\} ?(?P<title>.*)\n"
    r"(?:^:[\w-]+:.*\n)*(?P<body>(?s:.*?))^(?P=fence)$",
    re.MULTILINE,
)
ROLE = re.compile(r"\{(?P<name>[a-z:-]+)\}`(?P<text>[^`]+)`")
NAMED = re.compile(r"(?P<words>.+?)\s*<(?P<target>[^<>]+)>", re.DOTALL)
CLASSED = re.compile(r"(`[^`]+`)\{\.[\w-]+\}|\[([^]]+)\]\{\.[\w-]+\}")
LINK = re.compile(r"\[([^]]+)\]\(#([\w-]+)\)")
TERM = re.compile(r"^(\S.*)\n: +", re.MULTILINE)
# What a page makes of other files stays there.
ELSEWHERE = {"literalinclude", "include", "eval-rst", "downloads", "bibliography", "verification", "questions"}
ELSEWHERE |= {"fact-map", "rms-facts", "formal-proofs"}


def taken_along(app, docname, notebook):
    """The recorded notebook of a page, ready to be opened elsewhere."""
    reader = Reader(app, docname)
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = reader.plain(cell.source)
    title = app.env.titles[docname].astext()
    page = f"[{title}]({reader.address(docname)})" if URL else f"“{title}”"
    put = f"put {MODULE} beside this notebook"
    where = "" if URL else f" ({put}: it is in the folder `notebooks` of the downloaded book)"
    source = f" Its source is at <{REPOSITORY}>." if REPOSITORY else ""
    needs = (
        f"This notebook is the page {page} of the book *{app.config.project}*.{source} It needs Python 3.11 or newer "
        f"and `lnbook` with NumPy, matplotlib, SymPy and ml_dtypes. The next cell installs what is missing{where}; in "
        f"a terminal the same is\n\n    pip install '{INSTALL}'"
    )
    again = "    import lnbook.pages" + ("" if URL else f"  # if this fails: {put}")
    install = f'try:\n    import lnbook.pages\nexcept ImportError:\n    %pip install --quiet "{INSTALL}"\n{again}'
    first = [new_markdown_cell(needs, id="needs"), new_code_cell(install, id="install")]
    notebook.cells = [*first, *(cell for cell in notebook.cells if cell.source.strip())]
    return notebook


def led(title, body):
    """The body behind its title in bold, or below it where the body begins with a block of its own."""
    apart = re.match(r"[:`]{3}|\$\$|[-*] |\d+\. ", body)
    gap = "\n\n" if apart else " "
    return f"**{title}.**{gap}{body}\n"


class Reader:
    """Reads MyST with what the build knows of the book."""

    def __init__(self, app, docname):
        self.env, self.builder, self.docname = app.env, app.builder, docname
        objects = self.env.get_domain("std").objects
        self.terms = {name.casefold(): place for (kind, name), place in objects.items() if kind == "term"}

    def plain(self, text):
        text = EQUATION.sub("$$", LABEL.sub("", ATTRIBUTES.sub("", text)))
        while DIRECTIVE.search(text):
            text = DIRECTIVE.sub(self.directive, text)
        text = ROLE.sub(self.role, CLASSED.sub(lambda found: found[1] or found[2], text))
        text = LINK.sub(self.link, TERM.sub(r"**\1:** ", text))
        return re.sub(r"\n{3,}", "\n\n", text).strip()

    def directive(self, found):
        name, title, body = found["name"], found["title"].strip(), found["body"].strip()
        match name:
            case "prf:proof":
                return led("Proof", f"{body} ∎")
            case "exercise":
                return led(f"Exercise{f' ({title})' if title else ''}", body)
            case "solution-start":
                return "**Solution.**\n"
            case "solution-end":
                return ""
            case "math":
                return f"$$\n{body}\n$$\n"
            case "admonition":
                return led(title, body)
            case _ if name.startswith("prf:"):
                return led(f"{name.removeprefix('prf:').capitalize()}{f' ({title})' if title else ''}", body)
            case _ if name in ELSEWHERE:
                return f"*(Here the page has more: {self.linked(self.title(self.docname), self.docname)}.)*\n"
            case _:
                return f"{body}\n"

    def role(self, found):
        named = NAMED.fullmatch(found["text"])
        words, target = (named["words"], named["target"].strip()) if named else ("", found["text"].strip())
        match found["name"]:
            case "doc":
                return self.linked(words or self.title(f"book/{target}"), f"book/{target}")
            case "term":
                return self.linked(words or target, *self.terms[target.casefold()], quiet=True)
            case "prf:ref" | "fact" | "fact-id":
                page = self.env.proof_list[target]["docname"]
                shown = f"`{target}`" if found["name"] == "fact-id" else words or self.statement(page, target)
                return self.linked(shown, page, target)
            case "ref" | "numref":
                return self.labelled(words, target)
            case "eq":
                page, number = self.env.get_domain("math").equations[target][:2]
                return self.linked(f"({number})", page, f"equation-{target}")
            case "cite" | "cite:t" | "cite:p":
                return ", ".join(self.source(key.strip()) for key in target.split(","))
            case "formal":
                return f"`{target}`"
        raise ExtensionError(f"{self.docname}: a notebook cannot be taken along with the role {found[0]}")

    def link(self, found):
        page, anchor = self.env.get_domain("std").anonlabels.get(found[2], (self.docname, found[2]))
        return self.linked(found[1], page, anchor)

    def labelled(self, words, name):
        domain = self.env.get_domain("std")
        exercise = getattr(self.env, "sphinx_exercise_registry", {}).get(name)
        if exercise:
            return self.linked(words or "the exercise", exercise["docname"], name)
        page, anchor, title = domain.labels.get(name.lower()) or (*domain.anonlabels[name.lower()], "")
        return self.linked(words or title, page, anchor)

    def linked(self, words, page, anchor="", quiet=False):
        words = " ".join(words.split())
        if URL:
            return f"[{words}]({self.address(page, anchor)})"
        here = quiet or page == self.docname or not anchor
        return words if here else f"{words} (on the page “{self.title(page)}”)"

    def address(self, page, anchor=""):
        return f"{URL}{self.builder.get_target_uri(page)}{f'#{anchor}' if anchor else ''}"

    def title(self, page):
        return self.env.titles[page].astext()

    def statement(self, page, name):
        parts = self.env.statement_titles[page][name].children
        return "".join(f"${part.astext()}$" if isinstance(part, nodes.math) else part.astext() for part in parts)

    def source(self, key):
        """[Ba et al. 2016](…), with the address of the source itself."""
        entry = self.env.get_domain("cite").bibdata.data.entries[key]
        people = [" ".join(person.last_names).strip("{}") for person in entry.persons.get("author", [])] or [key]
        names = people[0] if len(people) == 1 else " and ".join(people) if len(people) == 2 else f"{people[0]} et al."
        fields = entry.fields
        places = {"url": "{}", "doi": "https://doi.org/{}", "eprint": "https://arxiv.org/abs/{}"}
        address = next((form.format(fields[name]) for name, form in places.items() if name in fields), "")
        words = f"{names} {fields.get('year', '')}".strip().replace("\\", "")
        return f"[{words}]({address})" if address else words
