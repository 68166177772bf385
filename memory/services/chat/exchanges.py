"""One chat request: its context, its route, and shortening it to fit the model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from memory.clients.tools import Tools
from memory.domain.chat.fitting import is_full
from memory.domain.chat.wording import ROLES, spoken_text, storable
from memory.domain.viewer import Viewer
from memory.services.chat.asking import ChatAsk, Json
from memory.services.chat.context import (
    MOST_QUESTION_CHARS,
    Context,
    Spoken,
    build_context,
    compacted,
    without_compacted,
)
from memory.services.chat.history import Recorded
from memory.services.compaction.summaries import latest_compaction
from routing.domain.chat_answers import tokens_of_request
from routing.services.models import Catalogue
from routing.services.router import choose_route
from routing.services.routes import Route
from teams.models import Conversation, Team
from teams.tenancy import team_scope

# So many earlier turns are read to judge how complex a question is.
_JUDGED_TURNS = 12


@dataclass(frozen=True, slots=True)
class Exchange:
    """A chat request and everything that stays the same while its context is shortened."""

    team: Team
    viewer: Viewer
    recorded: Recorded
    ask: ChatAsk
    catalogue: Catalogue
    is_remembering: bool
    tools: Tools
    now: datetime

    def context(self, lead: tuple[Json, ...], talk: tuple[Spoken, ...]) -> Context:
        """The context for the model, with a freshly built prompt."""
        conversation = self.recorded.conversation
        return build_context(
            viewer=self.viewer,
            agent=conversation.agent,
            conversation=conversation,
            ask=self.ask,
            lead=lead,
            talk=talk,
            is_remembering=self.is_remembering,
            tools=self.tools,
            now=self.now,
        )

    def route(self, context: Context) -> Route:
        """The routing decision for a context; it is not stored yet."""
        conversation = self.recorded.conversation
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
            agent=conversation.agent,
            end_user=conversation.end_user,
            query=self.ask.question[:MOST_QUESTION_CHARS] or conversation.agent.name,
            history=history[-_JUDGED_TURNS:],
            history_turns=len(history),
            now=self.now,
            force_tier=self.ask.tier,
            prompt_tokens=tokens_of_request(context.messages, self.ask.parameters),
            max_tokens=self.ask.max_tokens,
            catalogue=self.catalogue,
            is_kept=False,
        )

    def is_full(self, context: Context, route: Route) -> bool:
        """Whether the context is about to overflow the chosen model's window."""
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
            gone = summed_up(self.recorded.conversation)
        if gone:
            context = without_compacted(context=context, position=gone)
            route = self.route(context)
            if window is None and not self.is_full(context, route):
                return context, route
        talk_tokens = sum(each.piece.tokens for each in context.talk)
        short = compacted(
            viewer=self.viewer,
            conversation=self.recorded.conversation,
            context=context,
            window=window or route.model.context_window,
            other_tokens=route.expected.input_tokens - talk_tokens + self._growth(context),
            answer_tokens=_answer_tokens(route),
            tools=self.tools,
        )
        if short is None:
            return context, route
        with team_scope(team_ids=[self.team.pk], actor=self.viewer.actor):
            rows = Conversation.objects.select_related("agent", "end_user", "project")
            fresh = rows.get(team_id=self.team.pk, pk=self.recorded.conversation.pk)
        again = replace(self, recorded=replace(self.recorded, conversation=fresh))
        built = again.context(short.lead, short.talk)
        context = replace(short, built=built.built)
        return context, self.route(context)

    def _growth(self, context: Context) -> int:
        """By how much the prompt may grow, as memory then covers the removed messages.

        Some endpoints truncate an overlong request without an error.
        """
        used = context.built.stats.tokens_used if context.built else 0
        return max(0, self.recorded.conversation.agent.token_budget - used)


def summed_up(conversation: Conversation) -> int:
    """The position up to which the conversation's summary covers it; call it in scope."""
    past = latest_compaction(team_id=conversation.team_id, conversation_id=conversation.pk)
    return past.to_position if past else 0


def _answer_tokens(route: Route) -> int:
    limit = route.expected.output_limit or route.model.max_output_tokens
    return min(route.expected.output_tokens, limit, route.model.max_output_tokens)
