"""Syntax trees of source code as the search for shapes reads them, parsed with tree-sitter."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Language as Grammar
from tree_sitter import Node as ParsedNode
from tree_sitter import Parser, Point, Tree

from memory.understanding.languages import Language, grammar_of, language_of

# Kinds of nodes, as the grammars call them.
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
MAX_DEPTH = 200
_CHUNK = 16 * 1024


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A node with its bytes [start, end) and lines from 1; comments and docstrings are left out."""

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
        """Returns whether the node's children are statements or definitions."""
        return self.kind in _BLOCKS

    @property
    def is_text(self) -> bool:
        """Returns whether the node is a string or the like, whatever its parts."""
        return self.kind in _TEXTS

    @property
    def is_call(self) -> bool:
        """Returns whether the node calls or constructs something."""
        return self.kind in _CALLS

    @property
    def is_import(self) -> bool:
        """Returns whether the node only imports definitions."""
        return self.kind.startswith(_IMPORTS)

    @property
    def is_type(self) -> bool:
        """Returns whether the node states a type."""
        return "type" in self.field or self.kind == "type_annotation"

    @property
    def is_action(self) -> bool:
        """Returns whether the node acts: a call, or a statement that decides, ends or raises."""
        return self.is_call or (self.kind.endswith("_statement") and self.kind not in _NO_ACTION)

    @property
    def is_list(self) -> bool:
        """Returns whether the node is a bracketed list, such as arguments, of varying length."""
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


class UnreadableCodeError(Exception):
    """The file cannot be learned from; the message says why."""


def parse_code(*, path: str, text: str, seconds: float = 1.0) -> SourceFile:
    """Returns the syntax tree of a file; UnreadableCodeError says why there is none."""
    language, grammar = language_of(path), grammar_of(path)
    if language is None or grammar is None:
        raise UnreadableCodeError("no language that is learned from")
    if "\0" in text:
        raise UnreadableCodeError("no text: it has a NUL")
    source = text.encode()
    tree = _parsed(grammar, source, seconds)
    if tree.root_node.has_error:
        raise UnreadableCodeError(f"syntax error near line {_first_error(tree)}")
    comments: list[tuple[int, int]] = []
    root = _copied(tree, comments)
    return SourceFile(path, language, source, root, tuple(comments))


def _parsed(grammar: Grammar, source: bytes, seconds: float) -> Tree:
    ends = time.monotonic() + seconds

    def read(offset: int, point: Point) -> bytes:
        del point
        return source[offset : offset + _CHUNK]

    def is_late(offset: int, has_error: bool) -> bool:
        del offset, has_error
        return time.monotonic() > ends

    try:
        tree = Parser(grammar).parse(read, encoding="utf8", progress_callback=is_late)
    except ValueError:
        raise UnreadableCodeError("took too long to parse") from None
    return tree


def _first_error(tree: Tree) -> int:
    node: ParsedNode | None = tree.root_node
    while node is not None and not node.is_error and not node.is_missing:
        line = node.start_point.row + 1
        node = next((each for each in node.children if each.has_error), None)
    return node.start_point.row + 1 if node is not None else line


def _copied(tree: Tree, comments: list[tuple[int, int]]) -> Node:
    """The tree as the domain reads it; `comments` takes the ranges of what is left out."""
    cursor = tree.walk()
    open_nodes: list[tuple[ParsedNode, str, list[Node]]] = []
    while True:
        node = cursor.node
        assert node is not None
        if len(open_nodes) > MAX_DEPTH:
            raise UnreadableCodeError(f"nested deeper than {MAX_DEPTH}")
        open_nodes.append((node, cursor.field_name or "", []))
        if cursor.goto_first_child():
            continue
        while True:
            done, field, children = open_nodes.pop()
            made = _made(done, field, tuple(children))
            if not open_nodes:
                return made
            if done.is_extra or _is_only_text(made):
                comments.append((made.start, made.end))
            else:
                open_nodes[-1][2].append(made)
            if cursor.goto_next_sibling():
                break
            cursor.goto_parent()


def _made(node: ParsedNode, field: str, children: tuple[Node, ...]) -> Node:
    return Node(
        kind=node.type,
        field=field,
        is_named=node.is_named,
        start=node.start_byte,
        end=node.end_byte,
        first_line=node.start_point.row + 1,
        last_line=node.end_point.row + 1,
        children=children,
    )


def _is_only_text(node: Node) -> bool:
    """Returns whether a statement is a string alone, such as a docstring or a directive."""
    named = [each for each in node.children if each.is_named]
    return node.kind == "expression_statement" and len(named) == 1 and named[0].is_text
