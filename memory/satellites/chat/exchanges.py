"""One chat request: its context, its route, and shortening it to fit the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial

from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.packing import MINIMUM_BUDGET
from memory.reading.answers import own_weights
from memory.reading.questions import Question, Read
from memory.reading.seven_layers import (
    BuiltPrompt,
    News,
    build_prompt,
    prompt_without_memory,
    with_documents,
    with_unnoted_news,
)
from memory.satellites.chat.history import Recorded
from memory.satellites.chat.placing import (
    Piece,
    after_position,
    first_that_stays,
    is_full,
    position_before,
    room_for_talk,
)
from memory.satellites.chat.requests import ChatAsk, Json
from memory.satellites.chat.wording import ROLES, said_without_calls, spoken_text, storable
from memory.understanding.tools import Tools
from memory.writing.compaction import compact_conversation
from memory.writing.summaries import latest_compaction
from memory.writing.waiting import StillExtractingError
from routing.domain.chat_answers import tokens_of_request
from routing.services.models import Catalogue
from routing.services.router import Route, choose_route
from teams.errors import UnavailableError
from teams.models import Conversation, Message, Team
from teams.tenancy import team_scope

_MOST_QUESTION_CHARS = 8_000
# So many earlier turns are read to judge how complex a question is.
_JUDGED_TURNS = 12


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
    the prompt replaces; `is_compacted` says that this request caused the compaction. `news` is what
    the prompt tells of the thread's memories, noted when the answer is stored.
    """

    built: BuiltPrompt | None
    lead: tuple[Json, ...]
    talk: tuple[Spoken, ...]
    left_out: int = 0
    is_compacted: bool = False
    news: News | None = None

    @property
    def messages(self) -> list[Json]:
        """In the order the model reads them; instructions are one message, the prompt its head."""
        talk = [each.message for each in self.talk]
        if self.built is None or not self.built.prompt:
            return [*self.lead, *talk]
        texts = [self.built.prompt, *map(spoken_text, self.lead)]
        role = self.lead[0]["role"] if self.lead else "system"
        return [{"role": role, "content": "\n\n".join(filter(None, texts))}, *talk]

    def without_first(self, count: int) -> Context:
        """The context without so many of its first messages."""
        return replace(self, talk=self.talk[count:], left_out=self.left_out + count)


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


@dataclass(frozen=True, slots=True)
class Exchange:
    """A chat request and everything that stays the same while its context is shortened.

    `is_new_agent` says that the request named an agent that was not there and created it.
    """

    team: Team
    viewer: Viewer
    recorded: Recorded
    ask: ChatAsk
    catalogue: Catalogue
    is_remembering: bool
    tools: Tools
    now: datetime
    is_new_agent: bool = False

    @property
    def conversation(self) -> Conversation:
        """The conversation of the exchange."""
        return self.recorded.conversation

    @property
    def question(self) -> str:
        """The text of the question, as far as it is read; the agent's name where there is none."""
        return self.ask.question[:_MOST_QUESTION_CHARS] or self.conversation.agent.name

    def context(self, lead: tuple[Json, ...], talk: tuple[Spoken, ...]) -> Context:
        """A freshly built prompt and the messages after it.

        Where memory is off, the agent's document alone is the prompt, or nothing for an agent that
        has none but its name: then the messages go through as they came.
        """
        agent = self.conversation.agent
        counter = counter_for(agent.model_config)
        budget = max(agent.token_budget, MINIMUM_BUDGET)
        if not self.is_remembering:
            has_document = agent.tagline or agent.personality or agent.rules or agent.skills
            if not has_document and not self.ask.documents:
                return Context(None, lead, talk)
            built = with_documents(
                self.ask.documents,
                token_budget=budget,
                counter=counter,
                build=lambda left: prompt_without_memory(
                    agent=agent, token_budget=left, counter=counter
                ),
            )
            return Context(built, lead, talk)
        build = partial(self._prompt, talk)
        if not self.conversation.revision:
            # No memory came of it yet, so there are no changes to report.
            return Context(build(budget), lead, talk)
        built, news = with_unnoted_news(
            viewer=self.viewer,
            conversation_id=self.conversation.pk,
            counter=counter,
            token_budget=budget,
            build=build,
        )
        return Context(built, lead, talk, news=news)

    def _prompt(self, talk: Sequence[Spoken], token_budget: int) -> BuiltPrompt:
        agent = self.conversation.agent
        weights = own_weights(agent, field="model")
        # The messages that the context contains anyway.
        in_view = tuple(each.position for each in talk if each.position is not None)
        counter = counter_for(agent.model_config)
        return with_documents(
            self.ask.documents,
            token_budget=token_budget,
            counter=counter,
            build=lambda left: build_prompt(
                Read(
                    viewer=self.viewer,
                    question=Question(self.question, self.conversation.pk, in_view),
                    tools=self.tools,
                    now=self.now,
                ),
                agent=agent,
                conversation=self.conversation,
                weights=weights,
                token_budget=left,
                counter=counter,
                is_loaded=False,
            ),
        )

    def route(self, context: Context) -> Route:
        """The routing decision for a context; it is not stored yet."""
        texts = [
            text
            for each in context.talk
            if ROLES[each.message["role"]] in {"user", "assistant"}
            and (text := storable(spoken_text(each.message)))
        ]
        # The last of them is the question itself.
        history = texts[:-1]
        return choose_route(
            team=self.team,
            agent=self.conversation.agent,
            end_user=self.conversation.end_user,
            query=self.question,
            history=history[-_JUDGED_TURNS:],
            history_turns=len(history),
            now=self.now,
            force_tier=self.ask.tier,
            prompt_tokens=tokens_of_request(context.messages, self.ask.parameters),
            max_tokens=self.ask.max_tokens,
            catalogue=self.catalogue,
            is_kept=False,
        )

    def is_full(self, route: Route) -> bool:
        """Returns whether the context is about to overflow the chosen model's window."""
        return is_full(
            tokens=route.expected.input_tokens,
            answer_tokens=_answer_tokens(route),
            window=route.model.context_window,
        )

    def shortened(
        self, context: Context, route: Route, *, window: int | None = None
    ) -> tuple[Context, Route]:
        """The context without what the last summary covers, or after a new compaction.

        It is to fit the chosen model's window, or `window` estimated tokens.
        """
        with team_scope(team_ids=[self.team.pk], actor=self.viewer.actor):
            gone = summed_up(self.conversation)
        if gone:
            pieces = [each.piece for each in context.talk]
            context = context.without_first(after_position(pieces, position=gone))
            route = self.route(context)
            if window is None and not self.is_full(route):
                return context, route
        pieces = [each.piece for each in context.talk]
        # Memory then covers the removed messages, so the prompt may grow: some endpoints truncate
        # an overlong request without an error.
        used = context.built.stats.tokens_used if context.built else 0
        growth = max(0, self.conversation.agent.token_budget - used)
        talk_tokens = sum(each.tokens for each in pieces)
        room = room_for_talk(
            window=window or route.model.context_window,
            other_tokens=route.expected.input_tokens - talk_tokens + growth,
            answer_tokens=_answer_tokens(route),
        )
        first = first_that_stays(pieces, room=room)
        last = position_before(pieces, first)
        if not first or not last:
            return context, route
        self._compact(last)
        with team_scope(team_ids=[self.team.pk], actor=self.viewer.actor):
            rows = Conversation.objects.select_related("agent", "end_user", "project")
            fresh = rows.get(team_id=self.team.pk, pk=self.conversation.pk)
        again = replace(self, recorded=replace(self.recorded, conversation=fresh))
        short = context.without_first(first)
        anew = again.context(short.lead, short.talk)
        short = replace(short, built=anew.built, news=anew.news, is_compacted=True)
        return short, self.route(short)

    def _compact(self, last: int) -> None:
        """Compact the conversation up to a position.

        Raises UnavailableError if the extraction takes too long to wait for: it continues, and the
        same request succeeds later.
        """
        with team_scope(team_ids=[self.team.pk], actor=self.viewer.actor):
            rows = Conversation.objects.filter(team_id=self.team.pk, pk=self.conversation.pk)
            end = rows.values_list("last_position", flat=True).get()
        try:
            compact_conversation(
                viewer=self.viewer,
                conversation_id=self.conversation.pk,
                tools=self.tools,
                keep_last=end - last,
            )
        except StillExtractingError as still:
            raise UnavailableError(
                "The conversation outgrew the model's context. What is to leave it is being"
                f" extracted first (job {still.job.pk}); nothing is lost. Send the same request"
                " again in a while."
            ) from None


def summed_up(conversation: Conversation) -> int:
    """The position up to which the conversation's summary covers it; call it in scope."""
    past = latest_compaction(team_id=conversation.team_id, conversation_id=conversation.pk)
    return past.to_position if past else 0


def _answer_tokens(route: Route) -> int:
    limit = route.expected.output_limit or route.model.max_output_tokens
    return min(route.expected.output_tokens, limit, route.model.max_output_tokens)
