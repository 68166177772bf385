"""The context of a model call: the prompt, the client's messages and earlier ones."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from memory.clients.token_counters import counter_for
from memory.clients.tools import Tools
from memory.domain.chat.fitting import (
    Piece,
    after_position,
    first_that_stays,
    position_before,
    room_for_talk,
)
from memory.domain.chat.wording import ROLES, said_without_calls, spoken_text
from memory.domain.packing import MINIMUM_BUDGET
from memory.domain.scoring import Weights
from memory.domain.viewer import Viewer
from memory.services.chat.asking import ChatAsk, Json
from memory.services.compaction.compaction import compact_conversation
from memory.services.extraction.waiting import StillExtractingError
from memory.services.read.prompting import BuiltPrompt, build_prompt, prompt_without_memory
from memory.services.read.ranking import Question
from memory.services.read.updates import with_news
from routing.domain.chat_answers import tokens_of_request
from teams.errors import InvalidError, UnavailableError
from teams.models import Agent, Conversation, Message
from teams.tenancy import team_scope

MOST_QUESTION_CHARS = 8_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Spoken:
    """A message for the model, and the position of its last row in the conversation."""

    message: Json
    position: int | None

    @property
    def piece(self) -> Piece:
        """Its size and place."""
        tokens = tokens_of_request([self.message], {})
        return Piece(tokens, self.message["role"] == "user", self.position)


@dataclass(frozen=True, slots=True)
class Context:
    """Everything that is sent to the model.

    `built` is None where memory is off and the agent's document is empty. `lead` are the client's
    own instructions at the head of its messages. `left_out` counts the messages that a summary in
    the prompt replaces; `is_compacted` says that this request caused the compaction.
    """

    built: BuiltPrompt | None
    lead: tuple[Json, ...]
    talk: tuple[Spoken, ...]
    left_out: int = 0
    is_compacted: bool = False

    @property
    def messages(self) -> list[Json]:
        """In the order the model reads them; instructions are one message, the prompt its head."""
        talk = [each.message for each in self.talk]
        if self.built is None or not self.built.prompt:
            return [*self.lead, *talk]
        texts = [self.built.prompt, *map(spoken_text, self.lead)]
        role = self.lead[0]["role"] if self.lead else "system"
        return [{"role": role, "content": "\n\n".join(filter(None, texts))}, *talk]


def spoken_of(
    *, ask: ChatAsk, positions: Sequence[int | None], earlier: Sequence[Message]
) -> tuple[tuple[Json, ...], tuple[Spoken, ...]]:
    """The client's instructions, and the messages after them, earlier ones included."""
    lead = 0
    while lead < len(ask.messages) and ROLES[ask.messages[lead]["role"]] == "system":
        lead += 1
    said = [
        Spoken({"role": row.role, "content": text}, row.position)
        for row in earlier
        if (text := said_without_calls(row.content))
    ]
    sent = [Spoken(m, p) for m, p in zip(ask.messages, positions, strict=True)]
    return ask.messages[:lead], (*said, *sent[lead:])


def build_context(
    *,
    viewer: Viewer,
    agent: Agent,
    conversation: Conversation,
    ask: ChatAsk,
    lead: tuple[Json, ...],
    talk: tuple[Spoken, ...],
    is_remembering: bool,
    tools: Tools,
    now: datetime,
) -> Context:
    """The prompt for the request and the messages after it.

    Where memory is off, the agent's document alone is the prompt, or nothing for an agent that has
    none but its name: then the messages go through as they came.
    """
    counter = counter_for(agent.model_config)
    budget = max(agent.token_budget, MINIMUM_BUDGET)
    if not is_remembering:
        built = prompt_without_memory(agent=agent, token_budget=budget, counter=counter)
        return Context(built if _has_document(agent) else None, lead, talk)
    question = ask.question[:MOST_QUESTION_CHARS] or agent.name
    build = partial(
        _build,
        viewer=viewer,
        agent=agent,
        question=Question(question, conversation.pk, _in_view(talk)),
        conversation=conversation,
        tools=tools,
        now=now,
    )
    if not conversation.revision:
        # No memory came of it yet, so there are no changes to report.
        return Context(build(budget), lead, talk)
    built, _ = with_news(
        viewer=viewer,
        conversation_id=conversation.pk,
        counter=counter,
        token_budget=budget,
        build=build,
    )
    return Context(built, lead, talk)


def _in_view(talk: Sequence[Spoken]) -> tuple[int, ...]:
    """The positions of messages that the context contains anyway."""
    return tuple(each.position for each in talk if each.position is not None)


def _build(
    token_budget: int,
    *,
    viewer: Viewer,
    agent: Agent,
    question: Question,
    conversation: Conversation,
    tools: Tools,
    now: datetime,
) -> BuiltPrompt:
    try:
        weights = Weights.from_config(agent.retrieval_weights)
    except ValueError as error:
        raise InvalidError(
            f"The agent '{agent.slug}' has retrieval weights that cannot be used: {error}."
            " Correct them in its document.",
            field="model",
        ) from None
    return build_prompt(
        viewer=viewer,
        agent=agent,
        question=question,
        conversation=conversation,
        weights=weights,
        token_budget=token_budget,
        tools=tools,
        counter=counter_for(agent.model_config),
        now=now,
        # A model reads the prompt: its memories need not be loaded.
        is_loaded=False,
    )


def without_compacted(*, context: Context, position: int) -> Context:
    """The context without the messages up to a position, which the summary covers."""
    first = after_position([each.piece for each in context.talk], position=position)
    return replace(context, talk=context.talk[first:], left_out=context.left_out + first)


def compacted(
    *,
    viewer: Viewer,
    conversation: Conversation,
    context: Context,
    window: int,
    other_tokens: int,
    answer_tokens: int,
    tools: Tools,
) -> Context | None:
    """The context without the messages that do not fit `window`, after they were compacted.

    It still has the old prompt: rebuild it for the summary. None if no message may be removed.
    Raises UnavailableError if the extraction takes too long to wait for: it continues, and the
    same request succeeds later.
    """
    pieces = [each.piece for each in context.talk]
    room = room_for_talk(window=window, other_tokens=other_tokens, answer_tokens=answer_tokens)
    first = first_that_stays(pieces, room=room)
    last = position_before(pieces, first)
    if not first or not last:
        return None
    with team_scope(team_ids=[viewer.team_id], actor=viewer.actor):
        rows = Conversation.objects.filter(team_id=viewer.team_id, pk=conversation.pk)
        end = rows.values_list("last_position", flat=True).get()
    try:
        compact_conversation(
            viewer=viewer, conversation_id=conversation.pk, tools=tools, keep_last=end - last
        )
    except StillExtractingError as still:
        raise UnavailableError(
            "The conversation outgrew the model's context. What is to leave it is being extracted"
            f" first (job {still.job.pk}); nothing is lost. Send the same request again in a while."
        ) from None
    return replace(
        context, talk=context.talk[first:], left_out=context.left_out + first, is_compacted=True
    )


def _has_document(agent: Agent) -> bool:
    return bool(agent.tagline or agent.personality or agent.rules or agent.skills)
