"""Syntax trees as the search for shapes reads them, whatever the language and the parser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath


class Language(StrEnum):
    """The languages whose shapes are learned."""

    PYTHON = "python"
    TYPESCRIPT = "typescript"
    JAVASCRIPT = "javascript"
    GO = "go"


_SUFFIXES: Mapping[str, Language] = {
    ".py": Language.PYTHON,
    ".pyi": Language.PYTHON,
    ".ts": Language.TYPESCRIPT,
    ".mts": Language.TYPESCRIPT,
    ".cts": Language.TYPESCRIPT,
    ".tsx": Language.TYPESCRIPT,
    ".js": Language.JAVASCRIPT,
    ".mjs": Language.JAVASCRIPT,
    ".cjs": Language.JAVASCRIPT,
    ".jsx": Language.JAVASCRIPT,
    ".go": Language.GO,
}

# Kinds of nodes, as the four grammars call them.
_BLOCKS = frozenset(
    ["module", "program", "source_file", "block", "statement_block", "statement_list", "class_body"]
)
_CALLS = frozenset({"call", "call_expression", "new_expression"})
_TEXTS = frozenset(
    [
        "string",
        "concatenated_string",
        "template_string",
        "interpreted_string_literal",
        "raw_string_literal",
        "rune_literal",
        "regex",
    ]
)
_IMPORTS = ("import", "future_import", "package", "export_clause")
_NO_ACTION = frozenset(
    ["expression_statement", "pass_statement", "empty_statement", "labeled_statement"]
)
_OPENING, _CLOSING = frozenset("([{<"), frozenset(")]}>")


def language_of(path: str) -> Language | None:
    """The language of a file by its name; None for one that is not read."""
    return _SUFFIXES.get(PurePosixPath(path).suffix.lower())


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One node: its kind and field in the grammar, its bytes [start, end) and lines from 1.

    Comments and statements that are nothing but a string are left out of `children`.
    """

    kind: str
    field: str
    is_named: bool
    start: int
    end: int
    first_line: int
    last_line: int
    children: tuple[Node, ...] = ()

    @property
    def is_block(self) -> bool:
        """Whether its children are statements or definitions."""
        return self.kind in _BLOCKS

    @property
    def is_text(self) -> bool:
        """Whether it is a string or the like, whatever it is put together of."""
        return self.kind in _TEXTS

    @property
    def is_call(self) -> bool:
        """Whether it calls or makes something."""
        return self.kind in _CALLS

    @property
    def is_import(self) -> bool:
        """Whether it only brings in what others define."""
        return self.kind.startswith(_IMPORTS)

    @property
    def is_type(self) -> bool:
        """Whether it says of which type something is."""
        return "type" in self.field or self.kind == "type_annotation"

    @property
    def is_action(self) -> bool:
        """Whether something happens there: a call, or a statement that decides, ends or raises."""
        return self.is_call or (self.kind.endswith("_statement") and self.kind not in _NO_ACTION)

    @property
    def is_list(self) -> bool:
        """Whether it is a bracketed list, such as arguments, parameters or the items of an array.

        How many there are differs from place to place.
        """
        items = self.children
        if self.is_block or len(items) < 2 or items[0].is_named or items[-1].is_named:
            return False
        return (
            items[0].kind in _OPENING
            and items[-1].kind in _CLOSING
            and all(each.is_named or each.kind == "," for each in items[1:-1])
        )


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A parsed file: its path, text and tree, and where the comments are that the tree omits."""

    path: str
    language: Language
    source: bytes
    root: Node
    comments: tuple[tuple[int, int], ...] = ()

    def text(self, node: Node) -> str:
        """The words of a node on one line."""
        return " ".join(self.source[node.start : node.end].decode(errors="replace").split())


def bottom_up(root: Node) -> Iterator[Node]:
    """Every node after its children, in the order of the text, without recursion."""
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, is_done = waiting.pop()
        if is_done or not node.children:
            yield node
            continue
        waiting.append((node, True))
        waiting.extend((child, False) for child in reversed(node.children))
