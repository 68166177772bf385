"""Answers a chat completion, whole or in a stream, and counts the memories that it used."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TypeAlias, TypeVar
from uuid import UUID

from django.db import DatabaseError, InterfaceError, transaction
from django.utils import timezone

from memory.domain.audience import Viewer
from memory.domain.plans.plan import Layer
from memory.reading.seven_layers import note_first_prompt, note_news
from memory.reading.usage import note_answer
from memory.satellites.chat.citations import Citations, citations_of
from memory.satellites.chat.exchanges import Context, Exchange, spoken_of, summed_up
from memory.satellites.chat.history import (
    Recorded,
    conversation_of,
    earlier_messages,
    record_answer,
    record_request,
)
from memory.satellites.chat.requests import ChatAsk, Json
from memory.satellites.chat.wording import spoken_text, text_of
from memory.selectors.names import is_guest
from memory.understanding.tools import Tools
from routing.clients.chat_calls import ChatRequest
from routing.domain.budgets import Reservation
from routing.services.calling import (
    Answer,
    AnswerStream,
    RequestRefusedError,
    call,
    open_stream,
    require_configured,
)
from routing.services.cost_guard import BudgetExceededError, count_along, release, reserve, settle
from routing.services.models import catalogue_of
from routing.services.router import (
    Attempt,
    Outcome,
    Route,
    cheapest_within,
    keep_by_itself,
    note_outcome,
    write_outcome,
)
from teams.errors import UnavailableError
from teams.models import Conversation, Message
from teams.services.team_settings import flags_of
from teams.tenancy import give_back_connection, team_scope

logger = logging.getLogger(__name__)

_Given = TypeVar("_Given")
# What an answer used, or has used so far: its model, those that failed before, tokens and cost.
Used: TypeAlias = Answer | AnswerStream


@dataclass(frozen=True, slots=True)
class Prepared:
    """A request whose messages are stored and whose cost is reserved: the model may be called."""

    exchange: Exchange
    context: Context
    route: Route
    reservation: Reservation

    @property
    def recorded(self) -> Recorded:
        """The request's messages in the log."""
        return self.exchange.recorded

    @property
    def request(self) -> ChatRequest:
        """The request that the model gets."""
        return ChatRequest(messages=self.context.messages, parameters=self.exchange.ask.parameters)


@dataclass(frozen=True, slots=True)
class Answered:
    """A whole answer: the protocol's `chat.completion` as the endpoint gave it, and what it used.

    `prepared` is what was asked in the end.
    """

    prepared: Prepared
    body: Json
    used: Used


def prepare_chat(
    *, team_id: UUID, actor: str, ask: ChatAsk, tools: Tools, now: datetime
) -> Prepared:
    """Store the request's new messages, build the context, choose a model and reserve the cost.

    Agent, user, project and conversation are created when first named. Call it outside a
    transaction: it makes several, none of which waits for a model. Raises BudgetExceededError,
    NoModelConfiguredError, InvalidError for an agent whose document cannot be used, and
    UnavailableError while a compaction goes on; the messages are stored by then and a request that
    is sent again stores none twice.
    """
    # Not flushed by itself: the reservation or refusal that follows is, and with it this commit.
    with team_scope(team_ids=[team_id], actor=actor, is_planned_once=True, is_flushed=False):
        conversation, is_new_agent = conversation_of(team_id=team_id, ask=ask)
        team = conversation.team
        is_remembering = flags_of(team=team).memory
        viewer = _viewer(conversation, actor, ask)
        recorded = record_request(viewer=viewer, conversation=conversation, ask=ask, now=now)
        earlier: list[Message] = []
        has_past = recorded.stored < conversation.last_position
        if is_remembering and not has_past:
            note_first_prompt(conversation=conversation)
        if is_remembering and has_past and not ask.has_history:
            earlier = earlier_messages(recorded=recorded, after=summed_up(conversation))
        catalogue = catalogue_of(team=team)
    lead, talk = spoken_of(ask=ask, positions=recorded.positions, earlier=earlier)
    exchange = Exchange(
        team, viewer, recorded, ask, catalogue, is_remembering, tools, now, is_new_agent
    )
    context = exchange.context(lead, talk)
    route = exchange.route(context)
    if not route.is_configured:
        keep_by_itself(route.decision)
        require_configured(route)
    if is_remembering and exchange.is_full(route):
        context, route = exchange.shortened(context, route)
    return paid_for(exchange, context, route, now)


def answer_chat(*, prepared: Prepared) -> Answered:
    """Call the model, store its answer and count its cost; no connection is held meanwhile.

    Raises what `routing.services.calling.call` raises: then nothing is held or counted.
    """
    outcomes: list[Outcome] = []
    prepared, answer = asked(prepared=prepared, ask=partial(call, keep=outcomes.append))
    message = answer.body["choices"][0]["message"]
    settle_call(prepared, answer, message=message, is_partial=False, outcomes=outcomes)
    given = GivenAnswer(message, is_partial=False)
    note_citations(prepared.exchange.viewer, prepared.context, answer=lambda: given)
    return Answered(prepared, answer.body, answer)


def asked(*, prepared: Prepared, ask: Callable[..., _Given]) -> tuple[Prepared, _Given]:
    """The request that was sent in the end, and what `ask` (`call` or `open_stream`) returned.

    Sizes are estimates: if every model refuses the request as too long, it is shortened once and
    sent again. No connection is held meanwhile.
    """
    try:
        return prepared, _ask(prepared, ask)
    except RequestRefusedError as error:
        if not error.is_too_long or not prepared.exchange.is_remembering:
            raise
        context, route = prepared.exchange.shortened(
            prepared.context, prepared.route, window=prepared.route.expected.input_tokens
        )
        if context.left_out == prepared.context.left_out:
            raise
    shorter = paid_for(prepared.exchange, context, route, timezone.now())
    return shorter, _ask(shorter, ask)


def _ask(prepared: Prepared, ask: Callable[..., _Given]) -> _Given:
    """Ask the models; a call that fails costs nothing, so its reservation is released."""
    give_back_connection()
    try:
        return ask(route=prepared.route, request=prepared.request)
    except BaseException:
        try:
            release(reservation=prepared.reservation)
        except (DatabaseError, InterfaceError):
            logger.warning("A reservation was not released; it expires.", exc_info=True)
        raise


def paid_for(exchange: Exchange, context: Context, route: Route, now: datetime) -> Prepared:
    """The request with its cost reserved and the routing decision stored.

    If other calls used up the budget meanwhile, the cheapest tier that still fits is tried once.
    Raises BudgetExceededError.
    """
    try:
        return Prepared(exchange, context, route, _reserved(exchange, route, now))
    except BudgetExceededError as error:
        cheaper = cheapest_within(route=route, left_usd=error.tightest.left_usd, now=now)
        if cheaper is None:
            raise
    return Prepared(exchange, context, cheaper, _reserved(exchange, cheaper, now))


def _reserved(exchange: Exchange, route: Route, now: datetime) -> Reservation:
    conversation = exchange.conversation
    try:
        return reserve(
            team=exchange.team,
            agent=conversation.agent,
            end_user=conversation.end_user,
            estimated_usd=route.reservation_usd,
            now=now,
            alternatives=route.alternatives,
            along=partial(route.decision.save, force_insert=True),
        )
    except BudgetExceededError as error:
        budget = error.tightest.account.kind.title.lower()
        why = Attempt(route.model.name, route.model.provider, f"not paid for by the {budget}")
        note_outcome(Outcome(route.team_id, route.decision_id, "failed", None, [why], None))
        raise


def settle_call(
    prepared: Prepared, used: Used, *, message: Json, is_partial: bool, outcomes: Sequence[Outcome]
) -> None:
    """Store the answer, the told news, the outcome and the cost of a call in one transaction.

    `message` is the answer, or the received part of it if `is_partial`; `outcomes` belong to the
    routing decision. If the cost cannot be counted with them, they are stored without it, and it is
    counted separately. An exception means that the answer is not stored; its cost is counted
    anyway.
    """
    viewer, reservation = prepared.exchange.viewer, prepared.reservation
    usage, cost_usd = used.usage, used.cost_usd
    committed: list[bool] = []

    def store() -> None:
        record_answer(
            viewer=viewer,
            recorded=prepared.recorded,
            message=message,
            is_partial=is_partial,
            tools=prepared.exchange.tools,
            now=timezone.now(),
        )
        for each in outcomes:
            write_outcome(each)
        news = prepared.context.news
        if news is not None and news.is_to_note:
            note_news(
                team_id=viewer.team_id, conversation_id=prepared.recorded.conversation.pk, news=news
            )

    try:
        with team_scope(team_ids=[viewer.team_id], actor=viewer.actor, is_planned_once=True):
            # First of all that waits for the commit: what follows it may fail by itself.
            transaction.on_commit(lambda: committed.append(True))
            store()
            count_along(
                reservation=reservation, actual_usd=cost_usd, usage=usage, now=timezone.now()
            )
    except BaseException as error:
        try:
            settle(reservation=reservation, actual_usd=cost_usd, usage=usage, now=timezone.now())
        except (DatabaseError, InterfaceError):
            # The reservation stays until it expires.
            logger.error("The cost of a call (%s USD) was not counted.", cost_usd, exc_info=True)
        if committed:
            logger.warning("What a call cost was counted late.", exc_info=True)
            return
        try:
            if not isinstance(error, (DatabaseError, InterfaceError)):
                raise
            with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
                store()
        except BaseException:
            for each in outcomes:
                note_outcome(each)
            raise


def _viewer(conversation: Conversation, actor: str, ask: ChatAsk) -> Viewer:
    person = conversation.end_user_id
    return Viewer(
        team_id=conversation.team_id,
        actor=actor,
        agent_id=conversation.agent_id,
        end_user_id=person if ask.names_user else None,
        project_id=conversation.project_id,
        project_ids=ask.project_ids,
        allowed_categories=tuple(conversation.agent.allowed_categories),
        is_guest=ask.names_user and is_guest(team_id=conversation.team_id, end_user_id=person),
    )


class LiveAnswer:
    """The chunks of an answer, to be iterated once and closed in any case.

    However it ends, what came of the answer is stored, as partial where it did not come to its end,
    and what it cost is counted; both before the last chunk is given out. No database connection is
    held while it runs.
    """

    def __init__(
        self, *, prepared: Prepared, stream: AnswerStream, outcomes: Sequence[Outcome]
    ) -> None:
        self.prepared = prepared
        self._stream = stream
        # Filled when the stream ends.
        self._outcomes = outcomes
        self._is_ended = False
        self._is_stored = False

    @property
    def used(self) -> Used:
        """The usage so far."""
        return self._stream

    @property
    def message(self) -> Json:
        """The assistant's message so far."""
        return self._stream.message

    def __iter__(self) -> Iterator[tuple[Json, bool]]:
        """The protocol's chunks, each with whether the answer is stored and counted by then.

        Raises StreamCutError when the endpoint breaks off, and UnavailableError instead of the last
        chunk where the answer could not be stored.
        """
        held: list[Json] = []
        try:
            for chunk in self._stream:
                # The end is told when everything is done: who has seen it may rely on it.
                if held or self._stream.finish_reason is not None:
                    held.append(chunk)
                else:
                    yield chunk, False
        finally:
            self.close()
        if not self._is_stored:
            raise UnavailableError("The answer could not be stored; send the request again.")
        for chunk in held:
            yield chunk, True

    def stored(self) -> GivenAnswer | None:
        """Returns the stored part of the answer, None where nothing is stored yet."""
        is_partial = self._stream.finish_reason is None
        return GivenAnswer(self._stream.message, is_partial) if self._is_stored else None

    def close(self) -> None:
        """Stop the model, store what came and count it; harmless twice. Raises nothing."""
        if self._is_ended:
            return
        self._is_ended = True
        stream = self._stream
        try:
            stream.close()
        except Exception:
            # A broken connection to the endpoint must not keep the answer from being stored.
            logger.exception("A stream was not closed.")
        try:
            settle_call(
                self.prepared,
                stream,
                message=stream.message,
                is_partial=stream.finish_reason is None,
                outcomes=self._outcomes,
            )
            self._is_stored = True
        except Exception:
            # Whoever still reads is told by the iteration.
            logger.exception("An answer was not stored.")
        give_back_connection()


def stream_chat(*, prepared: Prepared) -> LiveAnswer:
    """Ask the model and wait for its first words.

    Raises what `routing.services.calling.open_stream` raises: then nothing is held or counted.
    """
    outcomes: list[Outcome] = []
    prepared, stream = asked(prepared=prepared, ask=partial(open_stream, keep=outcomes.append))
    # What failed before may have been written down.
    give_back_connection()
    live = LiveAnswer(prepared=prepared, stream=stream, outcomes=outcomes)
    note_citations(prepared.exchange.viewer, prepared.context, answer=live.stored)
    return live


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An assistant's message as it was stored; a partial one broke off."""

    message: Json
    is_partial: bool


def citations_in(*, context: Context, answer: GivenAnswer) -> Citations:
    """Returns the memories that the answer cites or ignores; a partial answer ignores none.

    Ignored can be what was retrieved for the question, and neither what is pinned nor what a person
    likes, which shapes an answer without a word of it.
    """
    built, said = context.built, spoken_text(answer.message)
    assembly = built.retrieval.assembly if built is not None and built.retrieval else None
    if built is None or assembly is None or not said.strip():
        return Citations()
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
