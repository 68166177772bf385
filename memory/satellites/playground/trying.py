"""A question tried by a person of the team: read as an agent reads it, with everything behind it.

Nothing is written: no use is counted, no answer is kept or taken from the cache, no event is noted.
No language model is called; the question is embedded, as every question is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum

from memory.clients.token_counters import counter_for
from memory.domain.audience import Viewer
from memory.domain.plans.plan import LAYERS, Layer
from memory.domain.scoring import Weights
from memory.reading.answers import (
    Prompt,
    RetrievalStats,
    budget_for,
    own_weights,
    weights_of,
)
from memory.reading.packing import Packing
from memory.reading.questions import Depth, Question, Read, of_types
from memory.reading.retrieval import prompt
from memory.reading.seven_layers import build_prompt, prompt_without_memory
from memory.satellites.playground.outcomes import Outcome, outcomes_of_prompt, section_words
from memory.selectors.conversations import viewer_in
from memory.understanding.tools import Tools
from teams.domain.agent_document import RetrievalWeights
from teams.domain.team_settings import Flags
from teams.models import Agent, Conversation, EndUser, Project
from teams.services.team_settings import require_memory


class PlanName(StrEnum):
    """The plans of the API that a question can be tried with, by the names of their endpoints."""

    RETRIEVE = "retrieve"
    PROMPT = "prompt"


@dataclass(frozen=True, slots=True)
class Trial:
    """The options of a trial, and its reader; None means as set by the agent's document or API."""

    agent: Agent
    text: str
    plan: PlanName = PlanName.RETRIEVE
    end_user: EndUser | None = None
    project: Project | None = None
    conversation: Conversation | None = None
    token_budget: int | None = None
    limit: int | None = None
    memory_types: tuple[str, ...] = ()
    min_score: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    depth: Depth = field(default_factory=Depth)

    def viewer(self, actor: str) -> Viewer:
        """The viewer: the agent for that person, project and conversation."""
        viewer = Viewer(
            team_id=self.agent.team_id,
            actor=actor,
            agent_id=self.agent.pk,
            end_user_id=self.end_user.pk if self.end_user else None,
            project_id=self.project.pk if self.project else None,
            allowed_categories=tuple(self.agent.allowed_categories),
        )
        return viewer_in(viewer, self.conversation) if self.conversation else viewer

    def read(self, actor: str, tools: Tools, now: datetime) -> Read:
        """Returns the read to run, with its viewer; nothing of it is counted."""
        return Read(
            viewer=self.viewer(actor),
            question=Question(self.text, self.conversation.pk if self.conversation else None),
            rows=of_types(self.memory_types),
            limit=self.limit,
            depth=self.depth,
            min_score=self.min_score,
            is_counted=False,
            tools=tools,
            now=now,
        )

    @property
    def weighing(self) -> Weights:
        """The weights in force; InvalidError where the agent's are not valid, or all are zero."""
        own = own_weights(self.agent)
        return weights_of(RetrievalWeights.read({**asdict(own), **self.weights}))


@dataclass(frozen=True, slots=True)
class SectionUse:
    """The size of a part of the prompt; `cut` is what a larger budget would have added."""

    name: str
    tokens: int
    memories: int
    cut: int = 0
    cut_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Tried:
    """An answer with what is behind it: every candidate, best first, the prompt and its parts."""

    weights: Weights
    outcomes: Sequence[Outcome]
    prompt: str
    sections: Sequence[SectionUse]
    stats: RetrievalStats


def try_question(*, trial: Trial, actor: str, flags: Flags, tools: Tools, now: datetime) -> Tried:
    """The answer that the agent would get now, and how it comes about; call it in no transaction.

    Raises InvalidError for weights or a budget that cannot be used, and ForbiddenError where the
    team has memory switched off and the plan needs it.
    """
    if trial.plan is PlanName.PROMPT:
        return _prompt(trial, trial.read(actor, tools, now), flags)
    require_memory(flags)
    return _retrieve(trial, trial.read(actor, tools, now))


def _retrieve(trial: Trial, read: Read) -> Tried:
    weights = trial.weighing
    found = prompt(
        read,
        packing=Packing(
            weights=weights,
            token_budget=budget_for(trial.agent, trial.token_budget),
            counter=counter_for(trial.agent.model_config),
        ),
        is_loaded=False,
    )
    outcomes = outcomes_of_prompt(found, limit=trial.limit)
    return Tried(weights, outcomes, found.formatted_prompt, _sections(found), found.stats)


def _prompt(trial: Trial, read: Read, flags: Flags) -> Tried:
    weights, budget = trial.weighing, budget_for(trial.agent, trial.token_budget)
    counter = counter_for(trial.agent.model_config)
    if not flags.memory:
        built = prompt_without_memory(agent=trial.agent, token_budget=budget, counter=counter)
    else:
        built = build_prompt(
            read,
            agent=trial.agent,
            conversation=trial.conversation,
            weights=weights,
            token_budget=budget,
            is_loaded=False,
            counter=counter,
        )
    has_summary = built.layers[LAYERS.index(Layer.SUMMARY)].tokens > 0
    outcomes = outcomes_of_prompt(
        built.retrieval,
        limit=trial.limit,
        summary_of=trial.conversation.pk if trial.conversation and has_summary else None,
    )
    sections = [
        SectionUse(
            f"{each.number} {each.name.replace('_', ' ')}",
            each.tokens,
            each.memories,
            each.cut,
            each.cut_tokens,
        )
        for each in built.layers
    ]
    stats = replace(built.stats, warnings=built.warnings)
    return Tried(weights, outcomes, built.prompt, sections, stats)


def _sections(found: Prompt) -> list[SectionUse]:
    """The parts of a prompt of `retrieve`, in the order in which they claim room."""
    assembly = found.assembly
    if assembly is None:
        return []
    cut = {each.section: each for each in assembly.trimmed}
    return [
        SectionUse(
            section_words(name),
            tokens,
            sum(told.section == name for told in assembly.told),
            cut[name].count if name in cut else 0,
            cut[name].tokens if name in cut else 0,
        )
        for name, tokens in assembly.tokens.items()
    ]
