"""What the outputs of a page rest on beside its own cells: the code of lnbook that its imports reach, and the pins.

Comments and docstrings are no code: who changes one executes no page. Of a package that only hands on what its modules
define, such as the figures, a page reaches what it names; of every other module, all.
"""

import ast
import hashlib
import re
import sys
from itertools import accumulate

PACKAGE = "lnbook"


class Module:
    """The names that a module imports, those it hands on where it does nothing else, and a hash of its code."""

    def __init__(self, source, package):
        tree = ast.parse(source)
        self.names = names_in(tree, package) | names_in_text(tree, package)
        only = all(isinstance(n, ast.Import | ast.ImportFrom) or says_only(n) for n in tree.body)
        self.handed_on = bound_names(tree, package) if only else None
        self.code = hashlib.sha256(ast.dump(without_docstrings(tree)).encode()).digest()


class Code:
    """The modules of lnbook below `root`, each read once; `known` holds those of earlier builds by their source."""

    def __init__(self, root, known=None):
        self.root = root
        self.pins = (root / "requirements.txt").read_bytes()
        self.known = {} if known is None else known
        self.modules = {}

    def names(self, cells):
        """The names in the cells of a page; all of lnbook where Python alone cannot read them."""
        try:
            tree = ast.parse("\n".join(cells))
            return names_in(tree) | names_in_text(tree)
        except SyntaxError:
            files = (path.relative_to(self.root) for path in (self.root / PACKAGE).rglob("*.py"))
            return {".".join(file.with_suffix("").parts) for file in files}

    def version(self, names):
        """A hash of all that the outputs of cells with these names depend on beside the cells."""
        digest = hashlib.sha256(sys.version.encode() + self.pins)
        for module in sorted(self.reached(names)):
            digest.update(module.encode() + self.module(module).code)
        return digest.hexdigest()[:16]

    def module(self, name):
        """The module, or None where lnbook has none of this name."""
        if name not in self.modules:
            path = self.root.joinpath(*name.split("."))
            files = {path / "__init__.py": name, path.with_suffix(".py"): name.rpartition(".")[0]}
            found = [pair for pair in files.items() if name.split(".")[0] == PACKAGE and pair[0].is_file()]
            self.modules[name] = self.read(*found[0]) if found else None
        return self.modules[name]

    def read(self, file, package):
        source = file.read_bytes()
        if self.known.get(str(file), (None,))[0] != source:
            self.known[str(file)] = (source, Module(source, package))
        return self.known[str(file)][1]

    def reached(self, names):
        """The modules that run when these names are imported, and those that these import in turn."""
        waiting, seen, modules = list(names), set(), set()
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            steps = list(accumulate(name.split("."), "{}.{}".format))
            for step, asked in zip(steps, [*steps[1:], None], strict=True):
                if self.module(step):
                    modules.add(step)
                    waiting += self.imported(self.module(step), asked)
        return modules

    def imported(self, module, asked):
        """The names that a module imports; of one that only hands on, the one behind the name that is asked for."""
        if module.handed_on is None or not asked or asked.endswith(".*"):
            return module.names
        name = asked.split(".")[-1]
        return [module.handed_on[name]] if name in module.handed_on and not self.module(asked) else []


def bound_names(tree, package=""):
    """The full names of what the code imports, by the names it gives them."""
    bound = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            bound |= {alias.asname: alias.name for alias in node.names if alias.asname}
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            source = ".".join(filter(None, [*above, node.module]))
            bound |= {alias.asname or alias.name: f"{source}.{alias.name}" for alias in node.names}
    return bound


def names_in(tree, package=""):
    """The full names of what the code imports; of a module of which it uses parts, the parts."""
    bound = bound_names(tree, package)
    plain = {alias.name for n in ast.walk(tree) if isinstance(n, ast.Import) for alias in n.names if not alias.asname}
    used = {n for n in ast.walk(tree) if isinstance(n, ast.Name)}
    parts = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.value in used and n.value.id in bound]
    # Used as a whole, or only handed on.
    whole = {n.id for n in used - {n.value for n in parts}} | bound.keys() - {n.id for n in used}
    names = plain | {name.split(".")[0] for name in plain} | {f"{bound[n.value.id]}.{n.attr}" for n in parts}
    return names | {bound[name] for name in whole & bound.keys()}


def names_in_text(tree, package=""):
    """Each text that could name a module, where the code loads modules by their names."""
    later = {"import_module", "__import__", "__getattr__"}
    if not any(later & {getattr(n, field, None) for field in ("id", "attr", "name")} for n in ast.walk(tree)):
        return set()
    texts = {n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    words = {text for text in texts if re.fullmatch(r"\w+(\.\w+)*", text)}
    return words | {f"{package}.{word}" for word in words}


def says_only(node):
    """Whether this is a docstring or a list such as __all__."""
    return isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Constant | ast.List | ast.Tuple)


def without_docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return tree
