"""Artifacts that texts name: commits, pull requests, decision records, files and links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from urllib.parse import urlsplit

from memory.domain.forms import PROJECT_FORMS, ArtifactKind, Form, Payload
from memory.domain.secrets import MASK
from memory.domain.text.words import word_set

MOST_ARTIFACTS = 50
_MOST_CHARS = 500
_SCHEMES = ("https://", "http://")
_AROUND = "\"'`“”‘’()[]{}<>*,;:!?."
# A file may begin with a dot.
_BEFORE = _AROUND.replace(".", "")
# Words before a short hash that say what it is; one of 40 characters needs none.
_OF_COMMITS = frozenset({"commit", "rev", "sha"})
_OF_REQUESTS = frozenset({"pr", "mr", "request"})
_HASH = frozenset("0123456789abcdef")
_SHORT_HASH, _LONG_HASH = 7, 40
_IN_PATHS = frozenset("/._-+@~")
# Endings by which a name without a folder is known for a file.
_ENDINGS = word_set(
    """
    c cc cfg conf cpp cs css csv docx env ex go gradle graphql h hpp html ini ipynb java js json jsx
    kt lock lua md mjs pdf php pl png proto ps1 py r rb rs rst scala sh sql svelte svg swift tf toml
    ts tsx txt vue xlsx xml yaml yml zip
    """
)
_LONGEST_ENDING = 8


def artifacts_in(texts: Iterable[str]) -> list[tuple[int, ArtifactKind, str]]:
    """Returns each artifact once, 50 at most, with the number of the first text that has it."""
    found: dict[tuple[ArtifactKind, str], int] = {}
    for number, text in enumerate(texts):
        for named in _named(text):
            if len(found) == MOST_ARTIFACTS:
                break
            if len(named[1]) <= _MOST_CHARS and MASK not in named[1]:
                found.setdefault(named, number)
    return [(number, kind, ref) for (kind, ref), number in found.items()]


def payload_as_said(form: Form, text: str) -> Payload:
    """Returns the payload of a project's form that quotes the text, with the files it names."""
    payload: dict[str, object] = {_quoting(form): text}
    files = [ref for _, kind, ref in artifacts_in([text]) if kind is ArtifactKind.FILE]
    if files:
        payload["artifacts"] = [{"kind": ArtifactKind.FILE.value, "ref": ref} for ref in files]
    return payload


def payload_reworded(form: str, payload: Payload, *, text: str, words: str) -> Payload | None:
    """Returns the payload with new words where it only quotes the text; else None."""
    if form not in PROJECT_FORMS:
        return None
    field = _quoting(Form(form))
    quotes = payload.get(field) == text and payload.keys() <= {field, "artifacts"}
    return {**payload, field: words} if quotes else None


def _quoting(form: Form) -> str:
    return "lesson" if form is Form.FAILURE else form.value


def _named(text: str) -> Iterator[tuple[ArtifactKind, str]]:
    before, last = "", ""
    for raw in text.split():
        start = min((at for at in map(raw.find, _SCHEMES) if at >= 0), default=-1)
        if start >= 0:
            yield from _linked(raw[start:])
        # "commit:abc1234" is two words; a line's number behind a file is none.
        head, colon, rest = raw.lstrip(_BEFORE).rstrip(_AROUND).partition(":")
        for word in (head, rest) if colon and not rest.isdigit() and start < 0 else (head,):
            if start < 0 and (one := _artifact(word, last, before)):
                yield one
            before, last = last, word.lower()


def _linked(raw: str) -> Iterator[tuple[ArtifactKind, str]]:
    for end in "\"'`<>)]|":
        raw = raw.partition(end)[0]
    link = raw.rstrip(_AROUND)
    try:
        parts = urlsplit(link)
    except ValueError:
        return
    if not parts.hostname:
        return
    yield ArtifactKind.LINK, link
    steps = parts.path.split("/")
    for step, after in pairwise(steps):
        if step in ("pull", "merge_requests", "pull-requests") and after.isdecimal():
            yield ArtifactKind.PR, f"#{after}"
        elif step in ("commit", "commits") and _is_hash(after):
            yield ArtifactKind.COMMIT, after


def _artifact(word: str, last: str, before: str) -> tuple[ArtifactKind, str] | None:
    lower = word.lower()
    if _is_hash(lower) and (len(lower) == _LONG_HASH or {last, before} & _OF_COMMITS):
        return ArtifactKind.COMMIT, lower
    kind, _, number = lower.replace("#", "-").rpartition("-")
    if number.isdecimal():
        if kind == "adr" or (not kind and last == "adr"):
            return ArtifactKind.ADR, f"ADR-{number}"
        if kind in ("pr", "mr") or (not kind and last in _OF_REQUESTS):
            return ArtifactKind.PR, f"#{number}"
    path = word.removeprefix("./")
    return (ArtifactKind.FILE, path) if _is_path(path) else None


def _is_hash(word: str) -> bool:
    is_long_enough = _SHORT_HASH <= len(word) <= _LONG_HASH
    is_mixed = not word.isdecimal() and not word.isalpha()
    return is_long_enough and is_mixed and _HASH.issuperset(word)


def _is_path(word: str) -> bool:
    folder, slash, name = word.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    if not (dot and stem.strip("._-") and ending.isalnum() and not ending.isdecimal()):
        return False
    if len(ending) > _LONGEST_ENDING or not all(c.isalnum() or c in _IN_PATHS for c in word):
        return False
    # "example.com/index.html" is an address.
    first = folder.partition("/")[0]
    return "." not in first.strip(".") if slash else ending.lower() in _ENDINGS
