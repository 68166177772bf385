"""Fields of a person's profile, and the field that a memory states."""

from __future__ import annotations

from collections.abc import Collection

from memory.domain.types import MemoryType

# Fields that apply by themselves once two independent signals say the same (seed 004, section 10).
BENIGN_FIELDS = frozenset({"tone", "goals"})
# Who somebody is: of each there is one value, which changes by replacement or with a yes.
CORE_FIELDS = frozenset(
    {"name", "preferred_name", "full_name", "pronouns", "role", "employer", "city"}
)
# Core fields that the small reader tells from each other: it takes an employer for a role.
READ_SURELY = frozenset({"preferred_name", "pronouns", "city"})
# Less sure is what a model concluded, and not what somebody said outright.
_SURE = 0.7
_ROOT = "user"
_PROFILE = "user.profile."
_PREFERENCES = frozenset({"preference", "preferences"})


def matter_of(*, memory_type: str, subject: str, fields: Collection[str]) -> str:
    """The profile field that a memory of this subject tells, with what narrows it; else "".

    `user.profile.city` and `user.city` are "city"; `user.profile.health.knee` is "health.knee",
    which is another matter than "health.eyes". Only a profile tells fields: a memory of the type,
    or one filed under `user.profile`.
    """
    root, *parts = subject.split(".")
    is_profile = memory_type == MemoryType.USER_PROFILE or subject.startswith(_PROFILE)
    if root != _ROOT or not is_profile:
        return ""
    for place, part in enumerate(parts):
        if part in fields:
            return ".".join(parts[place:])
    return ""


def is_profile_subject(subject: str) -> bool:
    """Returns whether a memory of this subject is of a profile, whatever its type."""
    return f"{subject}.".startswith(_PROFILE)


def field_of(matter: str) -> str:
    """The field of a matter: "health" of "health.knee"."""
    return matter.partition(".")[0]


def filed_subject(*, memory_type: str, subject: str, sensitive_field: str) -> str:
    """The subject under which a candidate is filed, so that the field it would set is found by it.

    `sensitive_field` is what an extractor calls the field, "" for none.
    """
    if not sensitive_field:
        return subject
    fields = (sensitive_field,)
    if matter_of(memory_type=memory_type, subject=subject, fields=fields):
        return subject
    return f"{_PROFILE}{sensitive_field}"


def is_said_outright(*, confidence: float, is_verbatim: bool, is_persons: bool) -> bool:
    """Returns whether the person said this of themselves, and no model concluded it."""
    return is_persons and (is_verbatim or confidence >= _SURE)


def is_preference(*, category: str, subject: str) -> bool:
    """Returns whether a memory of this category and subject states a preference."""
    parts = {part.casefold() for part in subject.split(".")}
    return category.casefold() in _PREFERENCES or not parts.isdisjoint(_PREFERENCES)
