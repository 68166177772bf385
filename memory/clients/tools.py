"""The embedder, extractor and judge that the settings choose, loaded once a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np
from django.conf import settings
from django_redis import get_redis_connection
from numpy.typing import NDArray

from memory.clients.active_embedder import ActiveEmbedder
from memory.clients.asked_model import AskedModel
from memory.clients.embedder_choice import configured_spec
from memory.clients.embedders import WordLlamaEmbedder
from memory.clients.judgement_cache import JudgementCache
from memory.clients.model_episodes import ModelEpisodes
from memory.clients.model_extractor import ModelExtractor
from memory.clients.model_insights import ModelInsights
from memory.clients.model_judge import ModelJudge, judge_name
from memory.clients.model_levels import ModelLevels
from memory.domain.episodes import RulesEpisodes
from memory.domain.levels import RulesLevels
from memory.domain.ports import (
    Embedder,
    EpisodeWriter,
    Extractor,
    InsightWriter,
    Judge,
    LevelWriter,
    Summariser,
)
from memory.domain.summarising import RulesSummariser
from memory.fallback.extractor import RulesExtractor
from memory.fallback.insights import RulesInsights
from memory.fallback.judge import RulesJudge
from routing.clients.structured_calls import StructuredCompletions
from routing.services.paid_calls import Tariff


@dataclass(frozen=True, slots=True)
class Tools:
    """What the write and read paths need from outside the database."""

    embedder: Embedder
    extractor: Extractor
    judge: Judge
    summariser: Summariser
    levels: LevelWriter = field(default_factory=RulesLevels)
    episodes: EpisodeWriter = field(default_factory=RulesEpisodes)
    insights: InsightWriter = field(default_factory=RulesInsights)

    @property
    def embedding_model(self) -> str | None:
        """The model that the next text is embedded with, as far as it can be known before."""
        if isinstance(self.embedder, ActiveEmbedder):
            return self.embedder.active_name
        return self.embedder.name

    @property
    def embeds_in_process(self) -> bool:
        """Whether embedding runs in this process and takes less than a millisecond."""
        return self.embedder.name == WordLlamaEmbedder.name

    def next_vectors(
        self, contents: Sequence[str]
    ) -> tuple[str, Sequence[NDArray[np.float32] | None]]:
        """What new memories get beside the active vector while a reembedding is under way.

        The next model's name with a vector for each content, or nothing for any. The model of the
        first memories ever is recorded on the way.
        """
        if contents and isinstance(self.embedder, ActiveEmbedder):
            self.embedder.remember_first_model()
            if found := self.embedder.next_vectors(contents):
                name, vectors = found
                return name, list(vectors)
        return "", [None] * len(contents)


@cache
def default_tools() -> Tools:
    """What the settings name, built once a process."""
    return configured_tools()


def configured_tools() -> Tools:
    """What the settings name: rules and the embedded embedder where they name no model."""
    extractor: Extractor = RulesExtractor()
    if settings.EXTRACTION_MODEL:
        extractor = ModelExtractor(
            completions=_completions(settings.EXTRACTION_MODEL),
            fallback=extractor,
            reviewer=_completions(settings.REVIEW_MODEL) if settings.REVIEW_MODEL else None,
            context_tokens=settings.EXTRACTION_CONTEXT_TOKENS,
            tariff=_tariff("extraction"),
            review_tariff=_tariff("review"),
        )
    rules = fallback_judge()
    judge: Judge = rules
    if settings.JUDGE_MODEL:
        name = judge_name(model=settings.JUDGE_MODEL)
        judge = ModelJudge(
            completions=_completions(settings.JUDGE_MODEL),
            cache=JudgementCache(
                connect=partial(get_redis_connection, "default"),
                # Numbered by what a judgement is held to.
                prefix=f"{settings.REDIS_PREFIX}:judgement:2:{name}:",
            ),
            fallback=rules,
            tariff=_tariff("judge"),
            tells_change=rules.tells_change,
        )
    return Tools(
        embedder=ActiveEmbedder(configured=configured_spec()),
        extractor=extractor,
        judge=judge,
        summariser=RulesSummariser(),
        levels=ModelLevels(_asked("levels")) if settings.LEVELS_MODEL else RulesLevels(),
        episodes=ModelEpisodes(_asked("episode")) if settings.EPISODE_MODEL else RulesEpisodes(),
        insights=ModelInsights(_asked("insight")) if settings.INSIGHT_MODEL else RulesInsights(),
    )


def _asked(task: str) -> AskedModel:
    model = getattr(settings, f"{task.upper()}_MODEL")
    return AskedModel(completions=_completions(model), tariff=_tariff(task))


@cache
def fallback_judge() -> RulesJudge:
    """The judge without a language model, with the word vectors of the embedded embedder."""
    return RulesJudge(word_vectors=WordLlamaEmbedder().word_vectors)


def _tariff(task: str) -> Tariff:
    paid_in = getattr(settings, f"{task.upper()}_INPUT_PRICE")
    return Tariff(task, paid_in, getattr(settings, f"{task.upper()}_OUTPUT_PRICE"))


def _completions(model: str) -> StructuredCompletions:
    return StructuredCompletions(
        base_url=settings.OPENAI_BASE_URL,
        api_key=settings.OPENAI_API_KEY,
        model=model,
        timeout=settings.OPENAI_TIMEOUT_SECONDS,
    )
