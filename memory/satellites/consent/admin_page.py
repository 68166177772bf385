"""What a reviewer needs to decide a consent request: both values and what was said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.safestring import SafeString

from memory.admin.settlements import marked
from memory.satellites.consent.effects import Effect, effects_of
from memory.satellites.consent.models import ConsentRequest
from memory.satellites.consent.proposals import independent_signals, signals_of
from teams.admin.conversations import Quote, quotes_of
from teams.models import Agent

_MAX_QUOTES = 6
_TASKS = {
    "task:extract": "found in talk",
    "task:consent": "by itself",
    "task:workflows": "found in talk",
    "task:team_facts": "found in what several people state",
}
_KINDS = {"staff": "{}", "agent": "agent {}", "key": "API key {}", "talk": "the person, in talk"}


@dataclass(frozen=True, slots=True)
class AskedFor:
    """A consent request as its page shows it; `signals` counts the independent ones.

    `effects` is what a yes would change, empty for a request that was decided.
    """

    field: str
    present: SafeString | str
    proposed: SafeString | str
    sources: Sequence[Quote]
    left_out: int
    signals: int
    proposer: str
    needs_person: bool
    whose: str
    people: int
    effects: Sequence[Effect]


def page_of_request(row: ConsentRequest) -> AskedFor:
    """Both values with the words that differ marked, what a yes changes, and the last messages."""
    ids = row.source_message_ids[-_MAX_QUOTES:]
    known = row.present.content if row.present else ""
    return AskedFor(
        field=row.field.replace("_", " ").replace(".", ", "),
        present=marked(known, row.content) if known else "",
        proposed=marked(row.content, known) if known else row.content,
        sources=quotes_of(ids, team_id=row.team_id),
        left_out=len(row.source_message_ids) - len(ids),
        signals=independent_signals(signals_of(row)),
        proposer=actor_words(row.proposed_by, agent=row.heard_by),
        needs_person=row.needs_person,
        whose=whose(row),
        people=row.people,
        effects=effects_of(row) if row.is_waiting else [],
    )


def whose(row: ConsentRequest) -> str:
    """Whom a request is about: a person, how many of them, or what belongs to nobody."""
    if row.kind == ConsentRequest.Kind.TEAM_FACT:
        return f"{row.people} people, who each state it"
    of_nobody = "an agent's" if row.kind == ConsentRequest.Kind.WORKFLOW else "a project's"
    return str(row.end_user or f"nobody: {of_nobody}")


def actor_words(actor: str, *, agent: Agent | None = None) -> str:
    """Who an actor of the log is, in words: "found in talk with kyra", "agent luke", "ann"."""
    if actor in _TASKS:
        return _TASKS[actor] + (f" with {agent.slug}" if agent else "")
    kind, _, name = actor.partition(":")
    return _KINDS[kind].format(name) if kind in _KINDS else actor
