"""Commits as `git log --numstat` prints them: episodes with their files as artifacts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import IO, Any

from memory.domain.forms import ArtifactKind, Form
from memory.domain.rendering import COMMIT_CATEGORY
from memory.domain.text.words import has_words
from memory.satellites.transfer.formats.items import ImportFileError, Item, ItemMaker, printable

BEGINNING = re.compile(rb"commit [0-9a-f]{7,64}\b")
# Artifacts of a commit, itself among them: of more files the most changed are kept.
MOST_ARTIFACTS = 200
_MAX_LINE_BYTES = 2**20
_MAX_TITLE_CHARS = 200
_MAX_BODY_CHARS = 4_000
_MAX_PATH_CHARS = 500
_MAX_LINES = 1_000_000
_HEADER = re.compile(r"(\w+):\s+(.+)")
_NUMSTAT = re.compile(r"(\d+|-)\t(\d+|-)\t(.+)")
# `{old => new}` in a path, and `old => new` for the whole of it.
_RENAMED = re.compile(r"\{[^{}]* => ([^{}]*)\}|^.* => (?=[^{}]*$)")


@dataclass(slots=True)
class _Commit:
    sha: str
    place: str
    headers: dict[str, str] = field(default_factory=dict)
    message: list[str] = field(default_factory=list)
    files: list[tuple[str, int, int]] = field(default_factory=list)


def git_commits(file: IO[bytes], make: ItemMaker) -> Iterator[Item]:
    """An item for each commit that has a title in words and is no merge, in the order of the file.

    Raises ImportFileError for a line that no `git log --numstat` prints.
    """
    commit: _Commit | None = None
    number = 0
    while line := file.readline(_MAX_LINE_BYTES):
        number += 1
        text = line.decode("utf-8", errors="replace").rstrip("\r\n")
        if BEGINNING.match(line):
            if commit is not None:
                yield from _items(commit, make)
            commit = _Commit(text.split()[1], f"line {number}")
        elif text and (commit is None or not _take(commit, text)):
            raise ImportFileError(
                f"line {number}: Is not of `git log --numstat --no-notes --date=iso-strict`."
            )
        elif commit is not None and not text and commit.message:
            commit.message.append("")
    if commit is not None:
        yield from _items(commit, make)


def _take(commit: _Commit, text: str) -> bool:
    """Add the line to the commit; false where it is none of a commit."""
    if text.startswith("    "):
        commit.message.append(text[4:])
    elif found := _NUMSTAT.fullmatch(text):
        added, removed = (0 if each == "-" else int(each) for each in found.groups()[:2])
        path = _RENAMED.sub(lambda match: match[1] or "", found[3]).replace("//", "/")
        commit.files.append((path, added, removed))
    elif not commit.message and (found := _HEADER.fullmatch(text)):
        commit.headers[found[1]] = found[2].strip()
    else:
        return False
    return True


def _items(commit: _Commit, make: ItemMaker) -> Iterator[Item]:
    title, _, body = "\n".join(commit.message).replace("\0", "").strip().partition("\n")
    # Nobody can put such a commit right, so it does not keep out the others.
    if not has_words(title[:_MAX_TITLE_CHARS]) or "Merge" in commit.headers:
        return
    payload: dict[str, Any] = {"title": title[:_MAX_TITLE_CHARS]}  # Any: JSON
    author = printable(commit.headers.get("Author", "").partition("<")[0])
    if body.strip():
        payload["narrative"] = body.strip()[:_MAX_BODY_CHARS]
    largest = sorted(commit.files, key=lambda each: -(each[1] + each[2]))[: MOST_ARTIFACTS - 1]
    payload["artifacts"] = [
        {"kind": ArtifactKind.COMMIT.value, "ref": commit.sha[:12]},
        *(
            {
                "kind": ArtifactKind.FILE.value,
                "ref": ref[:_MAX_PATH_CHARS],
                "added": min(added, _MAX_LINES),
                "removed": min(removed, _MAX_LINES),
            }
            for path, added, removed in largest
            if (ref := printable(path))
        ),
    ]
    yield make.memory(
        place=commit.place,
        content=None,
        external_id=f"git:{commit.sha[:12]}",
        at=make.time({"Date": _date(commit)}, "Date", commit.place),
        tags=[author],
        given={"form": Form.EPISODE.value, "payload": payload, "category": COMMIT_CATEGORY},
    )


def _date(commit: _Commit) -> str:
    """The date of the commit in ISO 8601, from any of git's usual styles; "" without one."""
    text = commit.headers.get("Date", "")
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return read(text).isoformat()
        except ValueError:
            continue
    if text:
        raise ImportFileError(f"{commit.place}: '{text}' is no date of git.")
    return ""
