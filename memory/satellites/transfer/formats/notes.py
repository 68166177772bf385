"""Notes in Markdown with front matter, as basic-memory and Obsidian keep them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from pathlib import PurePosixPath
from typing import Any

import yaml

from memory.domain.text.words import has_words
from memory.satellites.transfer.formats.items import ImportFileError, Item, ItemMaker, id_of_words

_FRONT = re.compile(r"\A---[ \t]*\r?\n(.*?)^---[ \t]*\r?$\n?", re.DOTALL | re.MULTILINE)
# basic-memory: `- [category] words #tag (context)` and `- relation [[Note]]`.
_OBSERVATION = re.compile(r"^\s*+[-*]\s++\[([^\[\]]{2,100})\](?!\()\s++(.+)$")
_RELATION = re.compile(r"^\s*+[-*]\s++([^\[\]]*+)\[\[([^\[\]]++)\]\](.*)$")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]")
_HEADING = re.compile(r"^#{1,6}\s+")
_TAG = re.compile(r"(?<!\S)#(\w[\w/-]*)")
# A longer text is told in parts, cut where paragraphs end, so that each can be found by itself.
_PART_CHARS = 2_000
# A paragraph that is longer than a memory may be is cut anywhere.
_MOST_CHARS = 20_000


def note_memories(text: str, path: str, make: ItemMaker) -> Iterator[Item]:
    """The memories of one note: each observation, each relation, and the rest in parts.

    Each begins with the note's title, so that it can be understood by itself. An id is made of the
    note's place and the words: a note that is imported again adds what is new in it.
    """
    front, body, first = _parted(text)
    title = " ".join((_scalar(front.get("title")) or PurePosixPath(path).stem).split())
    note = _scalar(front.get("permalink")) or path
    created = front.get("created") or front.get("created_at") or front.get("date")
    if isinstance(created, date):
        created = created.isoformat()
    at = None
    # Notes write dates as they like, and one of them must not keep out the others.
    with suppress(ImportFileError):
        at = make.time({"created": created if isinstance(created, str) else None}, "created", path)
    tags = _front_tags(front.get("tags"))
    for place, words, own in _statements(body, path, title, first):
        if has_words(words):
            yield make.memory(
                place=place,
                content=f"{title}: {words}" if not words.startswith(title) else words,
                external_id=f"note:{id_of_words(note, words)}",
                at=at,
                tags=[*tags, *own],
            )


def _statements(
    body: str, path: str, title: str, first: int
) -> Iterator[tuple[str, str, list[str]]]:
    """Yields the place, words and tags of each statement; the body begins at line `first`."""
    part: list[str] = []
    begins = first
    for number, line in enumerate([*body.splitlines(), None], start=first):
        found = line is not None and (_OBSERVATION.match(line) or _RELATION.match(line))
        is_full = not (line or "").strip() and len("\n".join(part)) >= _PART_CHARS // 2
        if part and (line is None or is_full or len("\n".join(part)) > _PART_CHARS):
            told = _plain("\n".join(part))
            for start in range(0, len(told), _MOST_CHARS):
                words = told[start : start + _MOST_CHARS]
                yield f"{path}:{begins}", words, _TAG.findall(words)
            part = []
        if line is None:
            return
        if found and found.re is _OBSERVATION:
            words = _plain(_TAG.sub("", found[2]))
            yield f"{path}:{number}", words, [found[1], *_TAG.findall(found[2])]
        elif found:
            relation = found[1].replace("_", " ").strip() or "relates to"
            words = f"{title} {relation} {_plain(found[2])}{_plain(found[3])}".rstrip()
            yield f"{path}:{number}", words, []
        elif (line.strip() or part) and _HEADING.sub("", line).strip() != title:
            begins = begins if part else number
            part.append(line)


def _plain(text: str) -> str:
    return re.sub(r"[ \t]{2,}", " ", _LINK.sub(r"\1", text)).strip()


def _parted(text: str) -> tuple[dict[str, Any], str, int]:  # Any: YAML
    """The front matter, what follows it, and the line at which that begins.

    Lines that are not fields in YAML are text.
    """
    found = _FRONT.match(text)
    if not found:
        return {}, text, 1
    try:
        front = yaml.safe_load(found[1]) or {}
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, RecursionError):
        return {}, text, 1
    if not isinstance(front, dict):
        return {}, text, 1
    return front, text[found.end() :], found[0].count("\n") + 1


def _scalar(value: object) -> str:
    """A single value as text; nothing for lists and objects, whose aliases may grow without end."""
    return str(value) if isinstance(value, str | int | float | date) else ""


def _front_tags(value: object) -> list[str]:
    value = value.split(",") if isinstance(value, str) else value or []
    value = value if isinstance(value, list) else [value]
    return [tag for each in value if (tag := _scalar(each).strip())]
