"""What was said a moment ago is found before it is indexed: few messages, read as they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from memory.clients.tools import Tools
from memory.domain.text import name_words
from memory.domain.viewer import Viewer
from memory.selectors.revisions import Revision
from memory.selectors.searching.raw_signals import FoundMessages, MessageRow
from memory.selectors.searching.waiting_messages import terms_in, waiting_messages
from memory.services.indexing.message_index import said_by
from memory.services.reading.ranking import ReadQuestion

_MOST = 100
# Of the latest so many the meaning is compared, by their beginnings: longer takes noticeable time.
_MOST_EMBEDDED = 40
_EMBEDDED_CHARS = 1_000


@dataclass(frozen=True, slots=True)
class JustSaid:
    """Messages that wait to be indexed, and how many of them hold each term of the question."""

    rows: list[MessageRow]
    holding: tuple[int, ...]


def read_just_said(
    *, viewer: Viewer, question: ReadQuestion, tools: Tools, revision: Revision | None = None
) -> JustSaid | None:
    """The waiting messages as they are, None without any; call it in the team's scope.

    Read them before the indexed ones: what is indexed in between is then in both, not in neither.
    Their meaning is compared where the embedder is a part of this process; otherwise words alone
    propose them until they are indexed, for no model is asked inside a transaction. `revision` is
    the team's in this transaction.
    """
    terms = [term.word for term in question.asked.terms]
    waiting = [
        each
        for each in waiting_messages(viewer=viewer, most=_MOST, terms=terms, revision=revision)
        if each.conversation_id != question.conversation_id
        or each.position not in (question.in_view or ())
    ]
    if not waiting:
        return None
    ids = [each.message_id for each in waiting]
    said = {each.message_id: each for each in said_by(team_id=viewer.team_id, ids=ids) if each.text}
    if not said:
        return None
    texts = {pk: each.embedded for pk, each in said.items()}
    held = terms_in(texts=texts, terms=terms)
    cosines = _cosines(texts, question=question, tools=tools)
    rows = [
        MessageRow(
            *each,
            people=" ".join(name_words([said[each.message_id].speaker])),
            terms=held.get(each.message_id, 0),
            cosine=cosines.get(each.message_id),
        )
        for each in waiting
        if each.message_id in said
    ]
    counts = [sum(row.terms >> place & 1 for row in rows) for place in range(len(terms))]
    return JustSaid(rows, tuple(counts))


def with_just_said(found: FoundMessages, said: JustSaid | None) -> FoundMessages:
    """The found messages, and those of a moment ago that are not among them."""
    if said is None:
        return found
    known = {row.message_id for row in found.rows}
    fresh = [row for row in said.rows if row.message_id not in known]
    holding = tuple(map(sum, zip(found.holding, said.holding, strict=True)))
    return replace(found, rows=[*found.rows, *fresh], holding=holding)


def _cosines(
    texts: Mapping[UUID, str], *, question: ReadQuestion, tools: Tools
) -> dict[UUID, float]:
    if not (question.has_vector and tools.embeds_in_process):
        return {}
    latest = sorted(texts, reverse=True)[:_MOST_EMBEDDED]
    vectors = tools.embedder.embed([texts[pk][:_EMBEDDED_CHARS] for pk in latest])
    if tools.embedder.name != question.embedding_model:
        return {}
    return dict(zip(latest, (vectors @ question.vector).tolist(), strict=True))
