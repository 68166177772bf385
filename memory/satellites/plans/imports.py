"""The imports of an open file, by its syntax tree: the files that it may be changed with."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from tree_sitter import Node, Parser

from memory.satellites.plans.prediction_models import file_name
from memory.understanding.languages import Language, grammar_of, language_of, suffixes_of

# Imports stand at the beginning of a file.
MOST_CHARS = 20_000
_MOST = 100
_STATEMENTS = frozenset(
    ["import_statement", "import_from_statement", "export_statement", "future_import_statement"]
)


def imports_of(*, path: str, text: str) -> tuple[str, ...]:
    """Returns the modules that a file imports, as paths without an ending, each once.

    Relative ones are resolved from `path`. Only Python and TypeScript are read, errors in the
    syntax notwithstanding; Go imports folders and not files.
    """
    grammar, language = grammar_of(path), language_of(path)
    if grammar is None or language is Language.GO:
        return ()
    tree = Parser(grammar).parse(text[:MOST_CHARS].encode(errors="replace"))
    read = _of_python if language is Language.PYTHON else _of_script
    found = (each for node in _statements(tree.root_node) for each in read(node, path))
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST]


def names_of_imported(imports: Iterable[str], *, path: str) -> list[str]:
    """Returns the file names that modules may have, as `file_name` gives them."""
    language = language_of(path)
    endings = suffixes_of(language) if language else []
    return sorted({file_name(each) + ending for each in imports for ending in endings})


def is_imported(file: str, imports: Iterable[str], *, path: str) -> bool:
    """Returns whether one of the imports of the file at `path` is `file`.

    A module of one part must stand beside the file or at the root; others may have a folder before.
    """
    stem = posixpath.splitext(file)[0]
    beside = posixpath.join(posixpath.dirname(path), posixpath.basename(stem))
    return any(
        stem == each or (stem.endswith(f"/{each}") and ("/" in each or stem == beside))
        for each in imports
    )


def _statements(root: Node) -> Iterator[Node]:
    """Import statements at any depth of blocks, in the order of the text."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type in _STATEMENTS:
            yield node
        else:
            waiting += reversed(node.named_children)


def _of_python(node: Node, path: str) -> Iterator[str]:
    if node.type == "future_import_statement":
        return
    named = [_dotted(each) for each in node.children_by_field_name("name")]
    module = node.child_by_field_name("module_name")
    if module is None:
        yield from (each.replace(".", "/") for each in named)
        return
    said = _text(module)
    base = said.lstrip(".").replace(".", "/")
    if dots := len(said) - len(said.lstrip(".")):
        if dots - 1 > path.count("/"):
            return  # it leaves the root
        base = _joined(posixpath.dirname(path), *[".."] * (dots - 1), base)
    yield base
    yield from (posixpath.join(base, each) for each in named)


def _dotted(node: Node) -> str:
    return _text(node.child_by_field_name("name") or node)


def _of_script(node: Node, path: str) -> Iterator[str]:
    source = node.child_by_field_name("source")
    if source is not None:
        said = _text(source).strip("\"'`")
        stem, ending = posixpath.splitext(said)
        # A module of TypeScript may be named as the JavaScript that it is compiled to.
        said = stem if ending in (".js", ".mjs", ".cjs", ".jsx") or language_of(said) else said
        yield _joined(posixpath.dirname(path), said) if said.startswith(".") else said


def _joined(*parts: str) -> str:
    """The path without `.` and `..`; "" where it leaves the root."""
    found = posixpath.normpath(posixpath.join(*filter(None, parts), ""))
    return "" if found.startswith(("..", "/")) or found == "." else found


def _text(node: Node) -> str:
    return (node.text or b"").decode(errors="replace")
