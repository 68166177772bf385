"""How a team's facts are chosen and told as read-only context (seed 001, "Configuration")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .checking import Checked

REQUEST_TYPES = ("coding", "output_format", "general", "planning", "personal", "troubleshooting")
SCOPES = ("session", "project", "user", "team")
LEAST_CHARS = 400
MOST_CHARS = 100_000
MOST_FACTS = 1_000
MAX_CATEGORIES = 50
MAX_CATEGORY_CHARS = 100
# Seed 001, "Memory Selection Rules", in the words of our categories; the types that it does not
# name have what such requests need. "*" is every category but preferences and procedures.
DEFAULT_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "coding": ("decision", "constraint", "technical_fact", "convention", "procedure"),
    "output_format": ("preferences",),
    "general": ("*",),
    "planning": ("decision", "constraint", "event", "technical_fact", "goal"),
    "personal": ("profile", "preferences", "event"),
    "troubleshooting": (
        "failure",
        "technical_fact",
        "decision",
        "constraint",
        "convention",
        "procedure",
        "event",
    ),
}
_FIELDS = (
    "scope_priority",
    "confidence_threshold",
    "general_confidence",
    "max_chars",
    "detect_conflicts",
    "read_only_marker",
    "enough_facts",
    "enough_share",
    "categories",
)


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """The five options of seed 001, when there is enough, and what each kind of request needs.

    `scope_priority` are the scopes in the order in which they are asked; one that is missing is not
    asked. Confidences are 0 to 1; a request of no other kind is told what has `general_confidence`.
    No further scope is asked when there are `enough_facts` facts, or when they take `enough_share`
    of `max_chars`.
    """

    scope_priority: tuple[str, ...] = SCOPES
    confidence_threshold: float = 0.7
    general_confidence: float = 0.9
    max_chars: int = 5_000
    detect_conflicts: bool = True
    read_only_marker: bool = True
    enough_facts: int = 10
    enough_share: float = 0.5
    categories: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: dict(DEFAULT_CATEGORIES)
    )

    @classmethod
    def of(cls, stored: object) -> ContextSettings:
        """The settings under what a team stored; what cannot be used is passed over."""
        return _read(Checked(stored if isinstance(stored, Mapping) else None))


def check_context_settings(value: object) -> dict[str, object]:
    """What a team sets otherwise than the defaults; null takes one back.

    Raises DocumentError for unknown names and for values that cannot be used.
    """
    given = Checked(value)
    _read(given)
    given.raise_problems()
    return {name: each for name, each in given.mapping().items() if each is not None}


def _read(given: Checked) -> ContextSettings:
    parts = given.fields(_FIELDS)
    usual = ContextSettings()
    scopes = tuple(
        dict.fromkeys(
            name
            for each in parts["scope_priority"].items(most=len(SCOPES))
            if (name := each.choice(SCOPES, is_required=True))
        )
    )
    if parts["scope_priority"].value == []:
        parts["scope_priority"].problem("Name at least one scope.")
    own = _categories(parts["categories"])
    chars = parts["max_chars"].whole(least=LEAST_CHARS, most=MOST_CHARS)
    facts = parts["enough_facts"].whole(least=1, most=MOST_FACTS)
    detects, marks = parts["detect_conflicts"].flag(), parts["read_only_marker"].flag()
    return ContextSettings(
        scope_priority=scopes or usual.scope_priority,
        confidence_threshold=_share(parts["confidence_threshold"], usual.confidence_threshold),
        general_confidence=_share(parts["general_confidence"], usual.general_confidence),
        max_chars=usual.max_chars if chars is None else chars,
        detect_conflicts=usual.detect_conflicts if detects is None else detects,
        read_only_marker=usual.read_only_marker if marks is None else marks,
        enough_facts=usual.enough_facts if facts is None else facts,
        enough_share=_share(parts["enough_share"], usual.enough_share),
        categories={**usual.categories, **own},
    )


def _categories(given: Checked) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(dict.fromkeys(part.lines(most=MAX_CATEGORIES, most_chars=MAX_CATEGORY_CHARS)))
        for name, part in given.fields(REQUEST_TYPES).items()
        if part.value is not None
    }


def _share(given: Checked, usual: float) -> float:
    value = given.value
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        given.problem("Must be a number from 0 to 1.")
        return usual
    return float(value)
