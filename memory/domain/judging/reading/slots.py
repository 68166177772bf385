"""The argument structure of a statement: which word is subject, verb, object or adjunct."""

from __future__ import annotations

from collections.abc import Sequence

from .tables import words
from .tokens import Token
from .verbal import AUXILIARIES
from .verbs import is_past_form

SUBJECT, VERB, OBJECT, ASIDE = "subject", "verb", "object", "aside"

_COPULAS = words("is are was were be been am 's :")
_POSSESSIVES = words("has have had")
_PREPOSITIONS = words(
    "in on at by for from to into onto with without within of as about through via under over "
    "during after before until till since between near behind against towards per like than "
    "across along outside inside"
)
_COMPARING = words("as a an the no")
_CLAUSES = words(
    "because since when if unless while although though whereas but so who whom whose which that "
    "where whenever after before once until and or"
)
_ADVERBS = words(
    "not no never always still now also only just currently usually normally again already soon "
    "often rarely hardly ever then all both mostly mainly generally been being be have to"
)


def main_verb(tokens: Sequence[Token], head: int) -> int:
    """The index of the verb that carries the meaning: behind auxiliaries, else `head` itself."""
    if head >= len(tokens) or tokens[head].lower not in AUXILIARIES:
        return min(head, max(0, len(tokens) - 1))
    auxiliary = tokens[head].lower
    last = head
    for i in range(head + 1, min(head + 6, len(tokens))):
        token = tokens[i]
        if token.separator:
            break
        lower = token.lower
        if lower in AUXILIARIES:
            last = i
        if lower == "no" and [each.lower for each in tokens[i + 1 : i + 2]] != ["longer"]:
            # "There is no heating".
            return last
        if lower in _ADVERBS or lower in AUXILIARIES or lower.endswith("ly"):
            continue
        if last > head and (lower in _PREPOSITIONS or lower in _COMPARING):
            # "May be as large as", "must have at least".
            return last
        if auxiliary in _COPULAS or auxiliary in _POSSESSIVES:
            verbal = is_past_form(lower) or (lower.endswith("ing") and len(lower) > 5)
            return i if verbal and auxiliary != ":" else head
        return i
    return head


def slots_of(tokens: Sequence[Token], start: int, head: int) -> tuple[str, ...]:
    """The slot of each token: subject, verb, object, aside, or the preposition it hangs on.

    "of" goes on with the slot it stands in; a later clause is aside.
    """
    verb = main_verb(tokens, head)
    verbless = head < len(tokens) and tokens[head].lower in _PREPOSITIONS
    slots: list[str] = []
    slot = ASIDE if start else SUBJECT
    for i, token in enumerate(tokens):
        lower = token.lower
        if i == start:
            slot = SUBJECT
        elif i == head and verbless:
            # "No smoking in the building".
            slot = lower
        elif i == head:
            slot = VERB
        elif i == verb + 1 and not verbless:
            slot = OBJECT
        if i > verb:
            if token.separator and lower in {";", ".", "(", "-"}:
                slot = ASIDE
            elif token.separator and slot == ASIDE:
                pass
            elif lower in _CLAUSES and lower not in {"and", "or"} and i > verb + 1:
                timed = lower in {"since", "after", "before", "until"}
                slot = lower if timed else ASIDE
            elif slot != ASIDE and lower in _PREPOSITIONS and lower != "of":
                slot = lower
        slots.append(VERB if i == verb and not verbless and slot != SUBJECT else slot)
    return tuple(slots)


def is_copular(tokens: Sequence[Token], verb: int) -> bool:
    """Whether the main verb only links the subject with what is said of it."""
    return verb < len(tokens) and tokens[verb].lower in _COPULAS
