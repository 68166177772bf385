"""Forms of memories: what else than text a memory may hold, and the text that says the same.

The forms are those of seed 002 ("Memory Types") and, of projects, those of seed 003. A payload has
been checked by the schema of its form before it comes here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memory.domain.secrets import MASK, mask_secrets
from memory.domain.types import MemoryType

# Any: JSON; which names and types it has, the schema of its form says.
Payload = Mapping[str, Any]

_SIGNS = re.compile(r"[\W_]+")


class Form(StrEnum):
    """The shape of what a memory holds beside its text."""

    FACT = "fact"
    EPISODE = "episode"
    PATTERN = "pattern"
    WORKFLOW = "workflow"
    DECISION = "decision"
    CONVENTION = "convention"
    FAILURE = "failure"


PROJECT_FORMS = frozenset({Form.DECISION, Form.CONVENTION, Form.FAILURE})
"""Forms that are stated of a project."""

MAX_SIGNATURE_CHARS = 2000
STATED_IMPORTANCE = 8
# The seed's .9 and .85 (seed 003, section 3.3); a convention's .8 is what all that is stated has.
_IMPORTANCE = {Form.DECISION: 9, Form.FAILURE: 9}


def stated_importance(form: Form | None) -> int:
    """The importance 1-10 of a memory that is stated without one."""
    return STATED_IMPORTANCE if form is None else _IMPORTANCE.get(form, STATED_IMPORTANCE)


def importance_of(value: float) -> float:
    """Returns an importance of 0-1, written with a point, as one of 1-10, and others unchanged."""
    is_share = isinstance(value, float) and 0 < value <= 1
    return max(1, int(value * 10 + 0.5)) if is_share else value


USUAL_TYPES: Mapping[Form, MemoryType] = {
    Form.EPISODE: MemoryType.EPISODIC,
    Form.WORKFLOW: MemoryType.PROCEDURAL,
}
"""The type of a memory of that form where none is named; of all others semantic."""


def never_contradict(one: str | None, other: str | None) -> bool:
    """Returns whether memories of these forms never contradict each other.

    Past events never contradict each other, and what went wrong contradicts nothing: it is changed
    by correcting its memory. Memories of two forms state different kinds of things, but for
    decisions and conventions, which differ by a word.
    """
    if Form.FAILURE in (one, other) or one == other == Form.EPISODE:
        return True
    if {one, other} == {Form.DECISION, Form.CONVENTION}:
        return False
    return bool(one and other and one != other)


class ArtifactKind(StrEnum):
    """The kind of thing outside of the memory that an artifact is."""

    COMMIT = "commit"
    PR = "pr"
    ADR = "adr"
    FILE = "file"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class ArtifactQuery:
    """Artifacts of a kind, and of one `ref` unless it is empty."""

    kind: ArtifactKind
    ref: str = ""

    @property
    def is_folder(self) -> bool:
        """Returns whether the path means all files below it, as `src/auth/` does."""
        return self.kind is ArtifactKind.FILE and self.ref.endswith("/")

    @classmethod
    def parse(cls, text: str) -> ArtifactQuery:
        """`commit` or `commit:abc123`; raises ValueError with a sentence for anything else."""
        kind, colon, ref = text.strip().partition(":")
        if kind not in list(ArtifactKind) or (colon and not ref.strip()):
            known = ", ".join(ArtifactKind)
            raise ValueError(f"Must be a kind ({known}) or kind:ref, as in file:src/login.ts.")
        return cls(ArtifactKind(kind), ref.strip())


def rendered(form: Form, payload: Payload) -> str:
    """The text of a memory that states no other: the words of its payload and none besides."""
    match form:
        case Form.FACT:
            return f"{payload['key']}: {payload['value']}{_in_brackets(payload.get('scope'))}"
        case Form.EPISODE:
            # Files and links are too many for a text; they are found by their rows and words.
            left_out = (ArtifactKind.FILE, ArtifactKind.LINK)
            named = [each for each in payload.get("artifacts", ()) if each["kind"] not in left_out]
            told = _joined(payload["title"], payload.get("narrative"))
            return told + _in_brackets(", ".join(map(_artifact, named)))
        case Form.PATTERN:
            said = payload.get("hint") or _template(payload["template"])
            return f"{payload['trigger']}: {said}{_in_brackets(payload.get('language'))}"
        case Form.WORKFLOW:
            return f"{payload['trigger']}: {' → '.join(payload['steps'])}"
        case Form.DECISION:
            return str(payload["decision"])
        case Form.CONVENTION:
            return f"{payload['convention']}{_in_brackets(payload.get('scope'))}"
        case Form.FAILURE:
            signature = payload.get("signature")
            return _joined(signature, payload["lesson"]) if signature else str(payload["lesson"])


def _joined(title: str, rest: str | None) -> str:
    return f"{title}: {rest}" if rest else title


def _in_brackets(text: str | None) -> str:
    return f" ({text})" if text else ""


def _artifact(artifact: Mapping[str, str]) -> str:
    return f"{artifact['kind']} {artifact['ref']}"


def _template(template: str | Mapping[str, str]) -> str:
    if isinstance(template, str):
        return template
    return ", ".join(f"{name}: {text}" for name, text in template.items())


def labelled(payload: Payload) -> list[tuple[str, str]]:
    """The payload for people to read: what each part is called, and its text."""
    parts = []
    for name, value in payload.items():
        if name == "artifacts":
            value = ", ".join(_artifact(each) for each in value)
        elif name == "steps":
            value = " → ".join(value)
        elif isinstance(value, Mapping):
            value = _template(value)
        if value:
            parts.append((name.capitalize(), str(value)))
    return parts


def texts_of(payload: Payload) -> Iterator[str]:
    """Every text in the payload, the names in its maps too."""
    for value in payload.values():
        yield from _texts_in(value)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, each in value.items():
            yield str(name)
            yield from _texts_in(each)
    elif isinstance(value, Sequence):
        for each in value:
            yield from _texts_in(each)


def searched_text(content: str, payload: Payload) -> str:
    """Returns a memory's searchable text: its text, its payload, and the words in its refs.

    "src/auth/login.ts" is one word to PostgreSQL; "login.ts" and "login" are to find it too.
    """
    texts = [content, *texts_of(payload)]
    for each in payload.get("artifacts", ()):
        texts += [each["ref"].replace("/", " "), _SIGNS.sub(" ", each["ref"])]
    return "\n".join(texts)


def masked(payload: Payload) -> dict[str, Any]:
    """The payload with every secret masked, also one that only its name tells."""
    safe = {name: _masked(value) for name, value in payload.items()}
    if isinstance(safe.get("key"), str) and isinstance(safe.get("value"), str):
        safe["value"] = _masked_under(safe["key"], safe["value"])
    return safe


def _masked(value: Any) -> Any:
    if isinstance(value, str):
        return mask_secrets(text=value)
    if isinstance(value, Mapping):
        return {
            mask_secrets(text=name): _masked_under(name, each) if isinstance(each, str) else each
            for name, each in value.items()
        }
    return [
        # What kind an artifact is hides nothing, and "commit: 4f2a…" is no password.
        {**each, "ref": mask_secrets(text=each["ref"])}
        if isinstance(each, Mapping)
        else _masked(each)
        for each in value
    ]


def _masked_under(name: str, value: str) -> str:
    """The value with its secrets masked, also where only "name: value" tells that it is one."""
    safe = mask_secrets(text=value)
    for joint in (": ", "="):
        head = f"{name}{joint}"
        told = mask_secrets(text=head + safe)
        if told.startswith(head) and MASK in told[len(head) :]:
            safe = told[len(head) :]
    return safe
