"""A template of code that repeats: the text of one place, with names for the parts that vary."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath
from textwrap import dedent

from memory.satellites.workflows.parsing import Node, SourceFile, bottom_up
from memory.satellites.workflows.shapes import Place

MAX_TEMPLATE_CHARS = 3000
MAX_TRIGGER_CHARS = 200
MAX_STEPS = 7
_MAX_HINT_CHARS = 160
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_ROLES = {
    "left": "variable",
    "right": "value",
    "function": "call",
    "constructor": "class",
    "pattern": "variable",
}


@dataclass(frozen=True, slots=True)
class Template:
    """Returns the shape's trigger, its code with `{parts}`, and its steps in a line, if any."""

    trigger: str
    code: str
    hint: str


@dataclass(frozen=True, slots=True)
class _Edit:
    start: int
    end: int
    text: str


def template_of(
    samples: Sequence[tuple[SourceFile, Place]], *, places: Sequence[Place]
) -> Template:
    """The template that the samples share, some of the places; the first one gives the words."""
    file = samples[0][0]
    aligned = list(zip(*(_statements(*each) for each in samples), strict=True))
    parts = _Parts([each for each, _ in samples])
    for nodes in aligned:
        parts.compare(nodes)
    edits = [*parts.edits, *(_Edit(*comment, "") for comment in file.comments)]
    start, end = samples[0][1].start, samples[0][1].end
    roots = [nodes[0] for nodes in aligned]
    steps = _steps(file, roots, parts.edits)
    return Template(
        trigger=_trigger(aligned, places),
        code=_shortened(_edited(file.source, start, end, edits)),
        hint=" → ".join(steps) if any(each[0] != "{" for each in steps) else "",
    )


class _Parts:
    """The parts in which the trees of several places differ, each with a name."""

    def __init__(self, files: Sequence[SourceFile]) -> None:
        self._files = files
        self._names: dict[tuple[str, ...], str] = {}
        self.edits: list[_Edit] = []

    def compare(self, roots: Sequence[Node]) -> None:
        """Name what varies below the roots, one of each place."""
        waiting: list[tuple[Sequence[Node], str]] = [(roots, "")]
        while waiting:
            nodes, role = waiting.pop()
            one = nodes[0]
            role = one.field or role
            texts = self._texts(nodes)
            if len(set(texts)) == 1:
                continue
            is_alike = len({(each.kind, len(each.children)) for each in nodes}) == 1
            if is_alike and one.children and not one.is_text and not one.is_type:
                waiting += reversed([(each, role) for each in _columns(nodes)])
            elif all(each.is_list for each in nodes):
                self._shorten(nodes)
            else:
                self._replace(one, self.name(texts, role or one.kind))

    def name(self, texts: tuple[str, ...], role: str) -> str:
        """Returns a name for a part: the words its texts share, or else its role in the tree."""
        if texts not in self._names:
            name = _shared_words(texts) or _ROLES.get(role, role).replace("_", " ")
            taken = set(self._names.values())
            number = 2
            unique = name
            while unique in taken:
                unique = f"{name} {number}"
                number += 1
            self._names[texts] = unique
        return self._names[texts]

    def _texts(self, nodes: Sequence[Node]) -> tuple[str, ...]:
        return tuple(file.text(node) for file, node in zip(self._files, nodes, strict=True))

    def _shorten(self, lists: Sequence[Node]) -> None:
        """Of lists that differ in length what is in all of them, then an ellipsis."""
        items = [
            {file.text(each) for each in node.children}
            for file, node in zip(self._files, lists, strict=True)
        ]
        one = lists[0]
        named = [self._files[0].text(each) for each in one.children if each.is_named]
        shared = [text for text in named if all(text in each for each in items)]
        opening, closing = one.children[0].kind, one.children[-1].kind
        self._replace(one, f"{opening}{', '.join([*shared, '…'])}{closing}", is_name=False)

    def _replace(self, node: Node, text: str, *, is_name: bool = True) -> None:
        self.edits.append(_Edit(node.start, node.end, f"{{{text}}}" if is_name else text))


def _columns(nodes: Sequence[Node]) -> list[tuple[Node, ...]]:
    return list(zip(*(each.children for each in nodes), strict=True))


def _statements(file: SourceFile, place: Place) -> list[Node]:
    for block in bottom_up(file.root):
        if block.is_block and block.start <= place.start and place.end <= block.end:
            named = [each for each in block.children if each.is_named]
            found = [each for each in named if place.start <= each.start and each.end <= place.end]
            if found and (found[0].start, found[-1].end) == (place.start, place.end):
                return found
    return []


def _edited(source: bytes, start: int, end: int, edits: Sequence[_Edit]) -> str:
    """The bytes [start, end) with the edits made, without blank lines and indentation."""
    line_start = source.rfind(b"\n", 0, start) + 1
    indent = source[line_start:start]
    pieces = [indent if not indent.strip() else b""]
    at = start
    for edit in sorted(edits, key=lambda each: each.start):
        if at <= edit.start and edit.end <= end:
            pieces += [source[at : edit.start], edit.text.encode()]
            at = edit.end
    pieces.append(source[at:end])
    lines = b"".join(pieces).decode(errors="replace").splitlines()
    return dedent("\n".join(line.rstrip() for line in lines if line.strip()))


def _shortened(code: str) -> str:
    if len(code) <= MAX_TEMPLATE_CHARS:
        return code
    return code[:MAX_TEMPLATE_CHARS].rsplit("\n", 1)[0] + "\n…"


def _steps(file: SourceFile, roots: Sequence[Node], edits: Sequence[_Edit]) -> list[str]:
    """Returns the last names of the template's calls, in order."""
    steps: list[str] = []
    for node in (each for root in roots for each in bottom_up(root)):
        if not node.is_call or not node.children:
            continue
        if any(edit.start <= node.start and node.end <= edit.end for edit in edits):
            continue
        called = next((each for each in node.children if each.is_named), node.children[0])
        text = _edited(file.source, called.start, called.end, edits)
        step = re.split(r"[.\s(]+(?![^{]*})", text.rstrip(")").rstrip("("))[-1] or text
        if step not in steps and len(" → ".join([*steps, step])) <= _MAX_HINT_CHARS:
            steps.append(step)
    return steps[:MAX_STEPS]


def _trigger(aligned: Sequence[Sequence[Node]], places: Sequence[Place]) -> str:
    folders = [PurePosixPath(place.path).parent.parts for place in places]
    alike = takewhile(lambda names: len(set(names)) == 1, zip(*folders, strict=False))
    where = str(PurePosixPath(*(names[0] for names in alike)))
    kind = aligned[0][0].kind if len(aligned) == 1 else "steps"
    said = kind.replace("_", " ").removesuffix(" definition").removesuffix(" declaration")
    return (f"{said} in {where}" if where != "." else said)[:MAX_TRIGGER_CHARS]


def _shared_words(texts: Sequence[str]) -> str:
    """The words with which all begin or end, as in ItemSerializer and TaskSerializer."""
    split = [_WORDS.findall(text) for text in texts]
    if not all(text.isidentifier() for text in texts):
        return ""
    for is_end in (True, False):
        shared: list[str] = []
        for words in zip(*(reversed(each) if is_end else each for each in split), strict=False):
            if len({word.lower() for word in words}) > 1:
                break
            shared.append(words[0])
        if shared:
            return "_".join(reversed(shared) if is_end else shared).lower()
    return ""
