"""What was said a moment ago is found before it is indexed: few messages, read as they are."""

from __future__ import annotations

from dataclasses import replace

from memory.clients.tools import Tools
from memory.domain.text import name_words
from memory.domain.viewer import Viewer
from memory.selectors.raw_signals import FoundMessages, MessageRow
from memory.selectors.waiting_messages import terms_in, waiting_messages
from memory.services.message_index import said_by
from memory.services.ranking import ReadQuestion

_MOST = 100


def with_just_said(
    *, viewer: Viewer, question: ReadQuestion, found: FoundMessages, tools: Tools
) -> FoundMessages:
    """The found messages, and those that wait to be indexed; call it in the team's scope.

    Their meaning is compared where the embedder is a part of this process; otherwise words alone
    propose them until they are indexed, for no model is asked inside a transaction.
    """
    waiting = [
        each
        for each in waiting_messages(viewer=viewer, most=_MOST)
        if each.conversation_id != question.conversation_id
        or each.position not in (question.in_view or ())
    ]
    if not waiting:
        return found
    ids = [each.message_id for each in waiting]
    said = {each.message_id: each for each in said_by(team_id=viewer.team_id, ids=ids) if each.text}
    if not said:
        return found
    texts = {pk: each.embedded for pk, each in said.items()}
    terms = [term.word for term in question.asked.terms]
    held = terms_in(texts=texts, terms=terms)
    cosines: dict[object, float] = {}
    if question.has_vector and tools.embeds_in_process:
        vectors = tools.embedder.embed(list(texts.values()))
        if tools.embedder.name == question.embedding_model:
            near = (vectors @ question.vector).tolist()
            cosines = dict(zip(texts, near, strict=True))
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
    holding = tuple(map(sum, zip(found.holding, counts, strict=True)))
    # What was indexed between the two statements is found already.
    known = {row.message_id for row in found.rows}
    fresh = [row for row in rows if row.message_id not in known]
    return replace(found, rows=[*found.rows, *fresh], holding=holding)
