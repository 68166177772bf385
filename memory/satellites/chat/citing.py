"""Counting which memories of its prompt an answer of the chat used."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from uuid import UUID

from memory.domain.audience import Viewer
from memory.domain.plans.plan import Layer
from memory.reading.usage import note_answer
from memory.satellites.chat.asking import Json
from memory.satellites.chat.citations import Citations, citations_of
from memory.satellites.chat.exchanges import Context
from memory.satellites.chat.wording import spoken_text, text_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An assistant's message as it was stored; a partial one broke off."""

    message: Json
    is_partial: bool


def citations_in(*, context: Context, answer: GivenAnswer) -> Citations:
    """What the answer used of the memories in its context; where it is a part, nothing is ignored.

    Ignored can be what was retrieved for the question, and neither what is pinned nor what a person
    likes, which shapes an answer without a word of it.
    """
    built, said = context.built, spoken_text(answer.message)
    if built is None or not said.strip():
        return Citations()
    assembly = built.retrieval.assembly
    lines = {told.line.render() for told in assembly.told}
    found = citations_of(
        answer=said,
        told=[(told.entry.key, told.line.content) for told in assembly.told],
        elsewhere=[
            *(line for line in built.prompt.splitlines() if line not in lines),
            *map(text_of, context.lead),
            *(text_of(each.message) for each in context.talk),
        ],
        chosen={
            told.entry.key
            for told in assembly.told
            if told.section == Layer.RETRIEVED
            and not (told.line.is_pinned or told.line.is_preference)
        },
    )
    return Citations(found.cited) if answer.is_partial else found


def note_citations(
    viewer: Viewer, context: Context, *, answer: Callable[[], GivenAnswer | None]
) -> None:
    """Count what the answer used of its prompt, once the request is answered in full.

    `answer` is asked then, and gives None where none was stored.
    """

    def find() -> tuple[Collection[UUID], Collection[UUID]]:
        given = answer()
        try:
            found = citations_in(context=context, answer=given) if given else Citations()
        except Exception:
            # No answer fails, and no other count is lost, for a guess about it.
            logger.exception("What an answer used was not counted.")
            found = Citations()
        return found.cited, found.ignored

    note_answer(team_id=viewer.team_id, find=find)
