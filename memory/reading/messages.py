"""Messages of an answer: found beside the memories, ranked with them, and loaded."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from memory.domain.scoring import Signals, SignalTable
from memory.domain.talk import is_covered, retells, says_the_same, searchable_text
from memory.domain.text.words import name_words
from memory.domain.types import Status
from memory.reading.questions import Question, Read, ReadQuestion
from memory.reading.ranking import BEHIND, CLOSE, Ranked, Score, ordered, signals_of
from memory.selectors.conversations import Source, sources_among, spoken_messages
from memory.selectors.revisions import Revision
from memory.selectors.search.message_signals import find_messages, terms_in, waiting_messages
from memory.selectors.search.signal_rows import (
    Found,
    FoundMessages,
    MessageRow,
    Sought,
    joined,
)
from memory.understanding.tools import Tools
from memory.writing.indexing.message_index import said_by
from teams.models import Conversation

# So many messages that wait to be indexed are read as they are. Of the latest of them the meaning
# is compared, by their beginnings: longer takes noticeable time.
_MOST_WAITING = 100
# Fifty milliseconds at most with the built-in encoder.
_MOST_EMBEDDED = 4
_EMBEDDED_CHARS = 300
# Of the messages found, so many may be the question itself.
_SPARE = 10
# As many of a conversation's messages as any client keeps before its model.
LATEST_IN_VIEW = 10


class RankedMessage(NamedTuple):
    """A message that is not loaded yet, with its score 0-1 on the scale of memories."""

    row: MessageRow
    score: float
    table: SignalTable
    place: int


@dataclass(frozen=True, slots=True)
class ScoredMessage:
    """A message that was found; `text` is the part that is searched and may be shown.

    `quote` is the part that a prompt quotes, with its `tokens`.
    """

    id: UUID
    conversation_id: UUID
    position: int
    role: str
    speaker: str
    external_id: str | None
    said_at: datetime
    text: str
    score: float
    signals: Signals
    tokens: int = 0
    quote: str = ""
    is_private: bool = False


def messages_for(read: Read, question: ReadQuestion, *, revision: Revision | None) -> FoundMessages:
    """Returns the messages that may answer, including those that are not indexed yet; in scope.

    `revision` is the team's in this transaction.
    """
    # Read before the indexed ones: what is indexed in between is then in both, not in neither.
    waiting, holding = _waiting(read, question.sought, revision)
    found = find_messages(viewer=read.viewer, sought=question.sought, revision=revision)
    if not waiting:
        return found
    known = {row.message_id for row in found.rows}
    fresh = [row for row in waiting if row.message_id not in known]
    both = tuple(map(sum, zip(found.holding, holding, strict=True)))
    return replace(found, rows=[*found.rows, *fresh], holding=both)


def _waiting(
    read: Read, sought: Sought, revision: Revision | None
) -> tuple[list[MessageRow], list[int]]:
    """The messages that wait to be indexed, and how many of them hold each term.

    Their meaning is compared if the embedder is a part of this process; otherwise words alone
    propose them until they are indexed, for no model is called inside a transaction.
    """
    viewer, asked, terms = read.viewer, read.question, sought.terms
    found = waiting_messages(viewer=viewer, most=_MOST_WAITING, terms=terms, revision=revision)
    waiting = [
        each
        for each in found
        if each.conversation_id != asked.conversation_id
        or each.position not in (asked.in_view or ())
    ]
    if not waiting:
        return [], []
    ids = [each.message_id for each in waiting]
    said = {each.message_id: each for each in said_by(team_id=viewer.team_id, ids=ids) if each.text}
    texts = {pk: each.embedded for pk, each in said.items()}
    held = terms_in(texts=texts, terms=terms) if texts else {}
    cosines = _cosines(texts, sought, read.tools)
    rows = []
    for each in waiting:
        if each.message_id in said:
            terms_held, words = held[each.message_id]
            people = name_words([said[each.message_id].speaker])
            rows.append(
                each._replace(
                    people=" ".join(people),
                    terms=terms_held,
                    cosine=cosines.get(each.message_id),
                    words=max(0, words - len(people)),
                )
            )
    return rows, [sum(row.terms >> place & 1 for row in rows) for place in range(len(terms))]


def _cosines(texts: Mapping[UUID, str], sought: Sought, tools: Tools) -> Mapping[UUID, float]:
    if not (texts and sought.has_vector and tools.embeds_in_process):
        return {}
    latest = sorted(texts, reverse=True)[:_MOST_EMBEDDED]
    vectors = tools.embedder.embed([texts[pk][:_EMBEDDED_CHARS] for pk in latest])
    if tools.embedder.name != sought.embedding_model:
        return {}
    return dict(zip(latest, (vectors @ sought.vector).tolist(), strict=True))


def rank_together(
    read: Read,
    question: ReadQuestion,
    *,
    found: Found,
    messages: FoundMessages,
    score: Score,
) -> tuple[list[Ranked], list[RankedMessage]]:
    """Ranks memories and messages on one scale, each kind best first.

    Word rarity counts over both, and both are each other's neighbours. A message is left out if
    memories made of it that rank at least as high say the same.
    """
    pool = joined(found, messages)
    if not pool.rows:
        return [], []
    table = signals_of(read=read, asked=question.asked, pool=pool)
    scores = score(pool.rows, table)
    team_id, first = read.viewer.team_id, len(found.rows)
    memories = ordered(found.rows, table, scores)
    said = [
        RankedMessage(row, float(scores.scores[place]), table, place)
        for place, row in enumerate(messages.rows, start=first)
    ]
    sources = _sources(team_id, memories, said)
    memories, said = _past_behind(memories, said, sources)
    hidden = _said_by_memories(team_id, memories, said, sources)
    kept = [each for each in said if each.row.message_id not in hidden]
    return memories, sorted(kept, key=lambda each: (-each.score, each.row.message_id))


def _sources(
    team_id: UUID, memories: Sequence[Ranked], said: Sequence[RankedMessage]
) -> list[Source]:
    # What retells a whole talk leaves out much of each message.
    own = [
        each.row.memory_id
        for each in memories
        if not retells(tags=each.row.tags, memory_type=each.row.memory_type)
    ]
    messages = [each.row.message_id for each in said]
    return sources_among(team_id=team_id, memory_ids=own, message_ids=messages)


def _past_behind(
    memories: Sequence[Ranked], said: Sequence[RankedMessage], sources: Sequence[Source]
) -> tuple[list[Ranked], list[RankedMessage]]:
    """Puts messages of a superseded memory right behind the memory that replaced it.

    That one takes the higher score of the two, unless it is so much lower that it answers another
    question, disputed or unconfirmed.
    """
    ranked = {each.row.memory_id: each for each in memories}
    spoken = {each.row.message_id: each for each in said}
    for source in sorted(sources, key=lambda each: (-spoken[each.message_id].score, each)):
        memory, message = ranked[source.memory_id], spoken[source.message_id]
        is_close = memory.rank >= CLOSE * message.score
        may_lead = memory.row.status == Status.ACTIVE and not memory.row.is_unconfirmed
        if not (source.is_past and is_close and may_lead):
            continue
        score = max(memory.score, message.score)
        ranked[source.memory_id] = memory._replace(score=score, rank=max(memory.rank, score))
        spoken[source.message_id] = message._replace(score=min(message.score, BEHIND * score))
    return sorted(ranked.values(), key=lambda each: (-each.score, each.row.memory_id.int)), [
        *spoken.values()
    ]


def _said_by_memories(
    team_id: UUID,
    memories: Sequence[Ranked],
    said: Sequence[RankedMessage],
    sources: Sequence[Source],
) -> set[UUID]:
    """Messages whose words are nearly all in memories made of them that rank as high."""
    scores = {each.row.memory_id: each.rank for each in memories}
    own = {each.row.message_id: each.score for each in said}
    known: dict[UUID, list[str]] = {}
    for source in sources:
        if scores[source.memory_id] >= own[source.message_id]:
            known.setdefault(source.message_id, []).append(source.text)
    texts = spoken_messages(team_id=team_id, ids=list(known))
    return {
        each.id
        for each in texts.values()
        if is_covered(searchable_text(each.content), by=known[each.id])
    }


def out_of_view(
    *, team_id: UUID, question: Question, said: Sequence[RankedMessage]
) -> list[RankedMessage]:
    """Returns the messages that are not `in_view` of the question; call it in the team's scope.

    If that is unknown, the last LATEST_IN_VIEW of its conversation are.
    """
    own = question.conversation_id
    if own is None:
        return list(said)
    at_hand: Container[int]
    if question.in_view is not None:
        at_hand = set(question.in_view)
    else:
        rows = Conversation.objects.filter(team_id=team_id, pk=own)
        last = rows.values_list("last_position", flat=True).first() or 0
        at_hand = range(last - LATEST_IN_VIEW + 1, last + 1)
    return [
        each for each in said if each.row.conversation_id != own or each.row.position not in at_hand
    ]


def load_messages(read: Read, *, ranked: Sequence[RankedMessage], most: int) -> list[ScoredMessage]:
    """Loads the best `most` messages, except the question itself; call it in the team's scope."""
    wanted = ranked[: most + _SPARE]
    ids = [each.row.message_id for each in wanted]
    known = spoken_messages(team_id=read.viewer.team_id, ids=ids)
    found = []
    for each in wanted:
        message = known[each.row.message_id]
        text = searchable_text(message.content)
        if says_the_same(text, read.question.text):
            continue
        fields = message._asdict()
        del fields["content"]
        found.append(
            ScoredMessage(
                **fields,
                text=text,
                score=each.score,
                signals=each.table.at(each.place),
                is_private=each.row.is_private,
            )
        )
    return found[:most]
