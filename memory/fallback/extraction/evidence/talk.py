"""What stands around a statement: its question, its answer, its place in the talk."""

from __future__ import annotations

import re

from memory.domain.text.stop_words import word_set as listed

from ...lexicon import marks
from ..answers import is_offer
from ..grammar import content_of, tokens_of, words_of
from .seen import Seen

_ASKED = listed(
    """
    who what when where which how why any shall should do does is are anything can
    """
)
_GUESSES = re.compile(
    r"\b(?:i believe|i think|i'd guess|probably|perhaps|maybe|i don't know|nobody knows|might)\b",
    re.IGNORECASE,
)


def talk(seen: Seen) -> set[str]:
    """Features of the turns around the statement."""
    statement = seen.statement
    if not statement.is_persons:
        return set()
    turn = statement.turn
    marked = {
        "pinned": statement.is_pinned,
        "answer composed": statement.is_answer,
        "corrected": statement.is_corrected,
        "first sentence": statement.place == 0,
        "opens talk": turn.place_in_talk == "first",
        "last turn": turn.place_in_talk == "last",
        "only sentence": len(turn.sentences) == 1,
    }
    found = {name for name, holds in marked.items() if holds}
    if turn.question:
        found |= _after_question(seen)
    return found | _before_reply(seen)


def _after_question(seen: Seen) -> set[str]:
    question = seen.statement.turn.question
    first = words_of(question)[:1]
    found = {"after question", "asked " + (first[0] if first and first[0] in _ASKED else "other")}
    if is_offer(question):
        found.add("after offer")
    if seen.statement.place == 0 and content_of(seen.clause) & content_of(question):
        found.add("shares question words")
    return found


def _before_reply(seen: Seen) -> set[str]:
    reply = seen.statement.turn.reply
    if not reply:
        return {"unanswered"} if seen.statement.turn.place_in_talk == "inside" else set()
    found = set()
    if any(marks(tokens_of(reply), names=["talk/taken_up"])):
        found.add("reply takes note")
    if len(seen.statement.turn.sentences) < 3 and reply.rstrip().endswith("?"):
        found.add("reply asks")
    if content_of(reply) & content_of(seen.clause):
        found.add("reply echoes")
    if _GUESSES.search(reply):
        found.add("reply guesses")
    if "!" in reply[:40]:
        found.add("reply exclaims")
    return found
