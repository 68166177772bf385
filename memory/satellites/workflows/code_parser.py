"""Parses source code with tree-sitter, within a depth and a time."""

from __future__ import annotations

import time
from functools import cache

import tree_sitter_go
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript
from tree_sitter import Language as Grammar
from tree_sitter import Node as ParsedNode
from tree_sitter import Parser, Point, Tree

from memory.satellites.workflows.patterns.syntax import Language, Node, SourceFile, language_of

MAX_DEPTH = 200
_CHUNK = 16 * 1024
_GRAMMARS = {
    Language.PYTHON: tree_sitter_python.language,
    Language.TYPESCRIPT: tree_sitter_typescript.language_typescript,
    Language.JAVASCRIPT: tree_sitter_javascript.language,
    Language.GO: tree_sitter_go.language,
}


class UnreadableCodeError(Exception):
    """The file cannot be learned from; the message says why."""


def parse_code(*, path: str, text: str, seconds: float = 1.0) -> SourceFile:
    """The syntax tree of a file in one of the known languages.

    Raises UnreadableCodeError: another language, a syntax error, a NUL, nesting deeper than 200,
    or `seconds` that are over.
    """
    language = language_of(path)
    if language is None:
        raise UnreadableCodeError("no language that is learned from")
    if "\0" in text:
        raise UnreadableCodeError("no text: it has a NUL")
    source = text.encode()
    tree = _parsed(_grammar(language, path.lower().endswith(".tsx")), source, seconds)
    if tree.root_node.has_error:
        raise UnreadableCodeError(f"syntax error near line {_first_error(tree)}")
    comments: list[tuple[int, int]] = []
    root = _copied(tree, comments)
    return SourceFile(path, language, source, root, tuple(comments))


@cache
def _grammar(language: Language, is_tsx: bool) -> Grammar:
    of = tree_sitter_typescript.language_tsx if is_tsx else _GRAMMARS[language]
    return Grammar(of())


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
    """The line of the first error, from 1."""
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
    """Whether a statement is a string alone, such as a docstring or a directive."""
    named = [each for each in node.children if each.is_named]
    return node.kind == "expression_statement" and len(named) == 1 and named[0].is_text
