"""Reads a person's sentences with the small model, each with what stands around it.

The model says of a sentence: is it worth keeping, of which type, how important, asked to be
remembered, for which audience, which profile field it sets, what kind of speech it is, and
whether it tells a decision, a convention or a failure.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from memory.understanding.encoder import Encoder

TYPES: Final = ("user_profile", "episodic", "procedural", "semantic")
AUDIENCES: Final = ("agent", "person", "team")
FIELDS: Final = (
    "",
    "preferred_name",
    "full_name",
    "pronouns",
    "role",
    "employer",
    "city",
    "language",
    "timezone",
    "email",
    "phone",
)
KINDS: Final = ("statement", "question", "request", "wish", "quotation", "chat", "injection")
FORMS: Final = ("", "decision", "convention", "failure")
# A sentence has the form from this score on; nine in ten of those it tells have it.
FORM_FROM: Final = {"decision": 0.6, "convention": 0.68, "failure": 0.55}
# The outputs of the head in their order: how many each answer takes.
SIZES: Final = {
    "keep": 1,
    "remember": 1,
    "importance": 1,
    "type": len(TYPES),
    "audience": len(AUDIENCES),
    "field": len(FIELDS),
    "kind": len(KINDS),
    "form": len(FORMS),
}
OUTPUTS: Final = sum(SIZES.values())
# Importance 1-10 as the head learns it: 0-1.
MAX_IMPORTANCE: Final = 10
MAX_TOKENS: Final = 112
# Of unseen talk of members, 72 % of what is the team's is this sure to be, and none of 55
# sentences that are not (from .5: 94 %, and 7 of 55).
TEAM_FROM: Final = 0.85
_ASKED, _BEFORE, _AFTER = 140, 200, 90


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence of a person with its surroundings.

    `asked` is what the agent said right before the message, `before` and `after` are the person's
    sentences around it, of the neighbouring messages too, `person` is "member", "guest" or "" where
    that is not known.
    """

    text: str
    person: str = ""
    asked: str = ""
    before: str = ""
    after: str = ""

    @property
    def as_pair(self) -> tuple[str, str]:
        """The surroundings and the sentence, as the model takes them."""
        around = [
            self.person or "person",
            "? " + self.asked[-_ASKED:],
            "< " + self.before[-_BEFORE:],
            "> " + self.after[:_AFTER],
        ]
        return " ".join(around), self.text


def alone(text: str) -> Line:
    """Returns a member's sentence without surroundings, of which alone the form is read."""
    return Line(text, person="member")


@dataclass(frozen=True, slots=True)
class ReadLine:
    """The model's reading of a sentence; `keep`, `remember` and `confided` are chances 0-1.

    `form` is the form of memory that a sentence `alone` fits, "" for none.
    """

    keep: float
    remember: float
    importance: int
    memory_type: str
    audience: str
    confided: float
    field: str
    kind: str
    form: str


class SmallReader:
    """The reading model; thread-safe. About 8 ms a sentence on one core."""

    def __init__(self) -> None:
        self._encoder = Encoder("reader.onnx", max_tokens=MAX_TOKENS)

    def read(self, lines: Sequence[Line]) -> list[ReadLine]:
        """Returns what the model says of each line, in order."""
        if not lines:
            return []
        return [_read(row) for row in self._encoder.run([line.as_pair for line in lines])]


@cache
def small_reader() -> SmallReader:
    """The reader of this process."""
    return SmallReader()


def _read(row: NDArray[np.float32]) -> ReadLine:
    parts = dict(zip(SIZES, np.split(row, np.cumsum(list(SIZES.values()))[:-1]), strict=True))
    audience = softmax(parts["audience"])
    return ReadLine(
        keep=sigmoid(float(parts["keep"][0])),
        remember=sigmoid(float(parts["remember"][0])),
        importance=int(np.clip(round(float(parts["importance"][0]) * MAX_IMPORTANCE), 1, 10)),
        memory_type=TYPES[int(parts["type"].argmax())],
        audience=_audience(audience),
        confided=float(audience[AUDIENCES.index("agent")]),
        field=FIELDS[int(parts["field"].argmax())],
        kind=KINDS[int(parts["kind"].argmax())],
        form=_form(parts["form"]),
    )


def _audience(chances: NDArray[np.float32]) -> str:
    """The likeliest audience; what is not surely the team's is the person's."""
    likeliest = AUDIENCES[int(chances.argmax())]
    is_in_doubt = likeliest == "team" and float(chances.max()) < TEAM_FROM
    return "person" if is_in_doubt else likeliest


def _form(scores: NDArray[np.float32]) -> str:
    """The likeliest form, where it is sure enough."""
    best = int(scores.argmax())
    return FORMS[best] if scores[best] >= FORM_FROM.get(FORMS[best], 0.0) else ""


def sigmoid(logit: float) -> float:
    """The chance 0-1 of a logit."""
    return float(1 / (1 + np.exp(-np.clip(logit, -30, 30))))


def softmax(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """The chances of the last axis's logits; they sum to one."""
    shares = np.exp(logits - logits.max(axis=-1, keepdims=True))
    chances: NDArray[np.float32] = shares / shares.sum(axis=-1, keepdims=True)
    return chances
