"""Typed patterns: what kind of memory a clause is, and how much it matters."""

from __future__ import annotations

import re

from ...types import MemoryType
from ..days.moments import FoundDate, Precision
from ..language.words import words_of
from .event_words import (
    ABSENCE,
    APPOINTMENT,
    BACKGROUND,
    CONVENTION,
    DECISION,
    FAILED_WHEN,
    FAILURE,
    FIRST_PERSON,
    GOAL,
    HABIT,
    HAPPENING,
    LEISURE,
    LIMIT,
    MILESTONE,
    OBLIGATION,
    PERSON_STARTS,
    PLURAL_HEAD,
    REACH_ME,
    RULE_HEAD,
    RULES_NAMED,
    SPAN,
    STANDING,
    TASK,
    TECH,
    WE,
)
from .labels import Label
from .preferences import preference_label
from .procedures import is_procedure
from .profile import profile_label
from .traits import trait_label

_S, _E, _P = MemoryType.SEMANTIC, MemoryType.EPISODIC, MemoryType.PROCEDURAL


def _moves(clause: str, calendar: bool) -> bool:
    """Whether people act where a milestone would be: "she starts on Monday"."""
    return not calendar and bool(PERSON_STARTS.search(clause))


def is_decision(*, clause: str) -> bool:
    """Whether a clause announces a decision."""
    return bool(DECISION.search(clause))


def label_clause(
    *, clause: str, dates: tuple[FoundDate, ...], past: bool, request: bool, chat: bool
) -> Label:
    """How a clause, still in the speaker's own words, is filed.

    Follows the importance table of seed 000; what no pattern knows is a fact of importance 5, or
    3 in a chat between people.
    """
    personal = bool(FIRST_PERSON.search(clause))
    if not chat or personal:
        profile = profile_label(clause=clause)
        if (
            profile
            and request
            and profile.attribute not in {"profile.language", "profile.timezone", "profile.contact"}
        ):
            profile = None
        if profile and request and profile.attribute == "profile.contact":
            # "Send all invoices to ap@…" says where the invoices go, not where the person is.
            profile = profile if REACH_ME.search(clause) else None
        happened = past and any(found.precision is not Precision.VAGUE for found in dates)
        if profile and not (happened and profile.attribute == "profile.household"):
            return profile
    if DECISION.search(clause) and not (chat and not past):
        return Label(_E, 7, "decision", "decision", confidence=0.85)
    if is_procedure(clause=clause, past=past):
        return Label(_P, 6, "procedure", "procedure", confidence=0.8)
    preference = None if past else preference_label(clause=clause, request=request)
    if preference and not (dates and OBLIGATION.search(clause)):
        return preference
    trait = trait_label(clause=clause) if personal and not (past or chat or dates) else None
    return trait or _event_or_fact(clause, dates, past, chat, personal)


def standing_label(*, clause: str) -> Label:
    """How something is filed that was asked for: it is so, and nothing that happened today."""
    label = label_clause(clause=clause, dates=(), past=False, request=False, chat=False)
    return Label(_S, 5, "fact", "fact") if label.memory_type is _E else label


def _event_or_fact(
    clause: str, dates: tuple[FoundDate, ...], past: bool, chat: bool, personal: bool
) -> Label:
    obliged = bool(OBLIGATION.search(clause))
    moving = any(found.precision is Precision.RELATIVE for found in dates)
    calendar = any(found.precision is Precision.CALENDAR for found in dates)
    planned = not past and calendar and SPAN.search(clause)
    standing = not past and not dates and (STANDING.search(clause) or FAILED_WHEN.match(clause))
    if FAILURE.search(clause) and not (obliged or planned or standing):
        return Label(_E, 5, "failure", "incident", confidence=0.8)
    if dates and ABSENCE.search(clause):
        return Label(_E, 5, "event", "absence", confidence=0.8)
    if RULE_HEAD.search(clause):
        return Label(_S, 6, "convention", "convention")
    if past and RULES_NAMED.match(clause):
        return Label(_S, 6, "convention", "convention")
    if past and not obliged:
        if BACKGROUND.search(clause):
            return Label(_S, 5, "technical_fact" if TECH.search(clause) else "fact", "fact")
        if dates or not PLURAL_HEAD.match(clause) or WE.search(clause) or chat:
            casual = personal and bool(LEISURE.search(clause))
            return Label(
                _E, 4 if casual or chat else 5, "activity" if personal else "event", "event"
            )
        return Label(_S, 5, "technical_fact" if TECH.search(clause) else "fact", "fact")
    if obliged and not (moving and APPOINTMENT.search(clause)):
        return Label(_S, 6, "constraint", "deadline" if dates else "requirement", confidence=0.85)
    if dates and HABIT.search(clause):
        return Label(_S, 6, "schedule", "schedule")
    if dates and APPOINTMENT.search(clause):
        return Label(_E, 6, "event", "event")
    if (calendar or moving) and MILESTONE.search(clause) and not _moves(clause, calendar):
        return Label(_S, 6, "event", "milestone")
    if calendar or moving or (dates and HAPPENING.search(clause)):
        return Label(_E, 6 if calendar else 5, "event", "event")
    if LIMIT.search(clause):
        return Label(
            _S, 6 if not re.search(r"\bbudget\b", clause, re.I) else 5, "constraint", "limit"
        )
    if GOAL.search(clause) and personal:
        return Label(_S, 4, "goals", "goal")
    if CONVENTION.search(clause):
        return Label(_S, 5, "convention", "convention")
    if TASK.search(clause):
        return Label(_S, 5, "tasks", "task")
    if chat:
        return Label(_S, 4 if personal else 3, "activity", "fact", confidence=0.6)
    return Label(
        _S,
        5,
        "technical_fact"
        if TECH.search(clause)
        else "relationship"
        if "report" in words_of(clause)
        else "fact",
        "fact",
    )
