"""What the words of a statement mean, by the word tables, and the type that the tests give it."""

from __future__ import annotations

from ..grammar import Tense
from ..kinds import DECISION, HABIT, OBLIGED, steps_in
from .seen import Seen

_DATES = frozenset(["date", "day", "time"])


def meaning(seen: Seen) -> set[str]:
    """A feature for each word table that has a word in it, and for some pairs of them."""
    found = {f"type {seen.kind}"}
    if not seen.statement.is_persons:
        return found
    found |= {f"cue {cue}" for cue in seen.cues}
    timed = seen.is_dated or bool({value.kind for value in seen.values} & _DATES)
    if timed:
        found |= {f"timed {cue}" for cue in seen.cues & {"events", "failures", "duty", "people"}}
        found.add(f"timed {seen.tense}")
    if "hedges" in seen.cues and seen.low.startswith(("i ", "i'")):
        found.add("own guess")
    if "quoting" in seen.cues and (seen.names or "people" in seen.cues):
        found.add("somebody quoted")
    if "idle" in seen.cues and len(seen.words) < 9:
        found.add("short small talk")
    if DECISION.search(seen.clause):
        found.add("decision")
    if OBLIGED.search(seen.clause):
        found.add("obliged")
    if HABIT.search(seen.clause):
        found.add("habit")
    steps = steps_in(seen.clause)
    if steps:
        found.add(f"steps {steps}")
    if seen.tense is Tense.PAST and "failures" in seen.cues:
        found.add("past failure")
    return found
