"""The embedder, extractor and judge that the settings choose, loaded once a process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memory.domain.episodes import RulesEpisodes
from memory.domain.levels import RulesLevels
from memory.domain.talk import RulesSummariser
from memory.understanding.active_embedder import ActiveEmbedder
from memory.understanding.asked_model import AskedModel
from memory.understanding.counted_insights import CountedInsights
from memory.understanding.embedders import BUILT_IN, WordLlamaEmbedder, configured_spec
from memory.understanding.judging import small_judge
from memory.understanding.model_extractor import ModelExtractor
from memory.understanding.model_judge import JudgementCache, ModelJudge
from memory.understanding.model_writers import (
    ModelEpisodes,
    ModelInsights,
    ModelLevels,
    ModelSummariser,
)
from memory.understanding.ports import (
    Embedder,
    EpisodeWriter,
    Extractor,
    InsightWriter,
    Judge,
    LevelWriter,
    Summariser,
)
from memory.understanding.quoting import QuotingExtractor
from routing.clients.quick_redis import quick_redis
from routing.clients.structured_calls import StructuredCompletions
from routing.services.paid_calls import Tariff


@dataclass(frozen=True, slots=True)
class Tools:
    """Models and rules that the write and read paths need from outside the database."""

    embedder: Embedder
    extractor: Extractor
    judge: Judge
    summariser: Summariser
    levels: LevelWriter = field(default_factory=RulesLevels)
    episodes: EpisodeWriter = field(default_factory=RulesEpisodes)
    insights: InsightWriter = field(default_factory=CountedInsights)

    @property
    def embedding_model(self) -> str | None:
        """The model that the next text is embedded with, as far as it can be known before."""
        if isinstance(self.embedder, ActiveEmbedder):
            return self.embedder.active_name
        return self.embedder.name

    @property
    def embeds_in_process(self) -> bool:
        """Returns whether a few short texts may be embedded while a reader waits: some ms each.

        Models of a folder may be of any size, and remote ones are never asked for this.
        """
        return self.embedder.name in (BUILT_IN, WordLlamaEmbedder.name)

    def next_vectors(
        self, contents: Sequence[str]
    ) -> tuple[str, Sequence[NDArray[np.float32] | None]]:
        """Returns vectors that new memories get beside the active one during a reembedding.

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
    """Returns the tools that the settings name, built once per process."""
    return configured_tools()


def configured_tools() -> Tools:
    """Builds the tools that the settings name; without models, rules and the embedded embedder."""
    extractor: Extractor = QuotingExtractor()
    if settings.EXTRACTION_MODEL:
        extractor = ModelExtractor(
            model=_asked("extraction"),
            fallback=extractor,
            reviewer=_asked("review") if settings.REVIEW_MODEL else None,
            context_tokens=settings.EXTRACTION_CONTEXT_TOKENS,
        )
    judge: Judge = small_judge()
    if settings.JUDGE_MODEL:
        model = _asked("judge")
        judge = ModelJudge(
            model=model,
            cache=JudgementCache(
                store=quick_redis(),
                # Numbered by what a judgement is held to.
                prefix=f"{settings.REDIS_PREFIX}:judgement:4:{model.name}:",
            ),
            small=small_judge(),
        )
    return Tools(
        embedder=ActiveEmbedder(configured=configured_spec()),
        extractor=extractor,
        judge=judge,
        summariser=ModelSummariser(_asked("summary"))
        if settings.SUMMARY_MODEL
        else RulesSummariser(),
        levels=ModelLevels(_asked("levels")) if settings.LEVELS_MODEL else RulesLevels(),
        episodes=ModelEpisodes(_asked("episode")) if settings.EPISODE_MODEL else RulesEpisodes(),
        insights=ModelInsights(_asked("insight")) if settings.INSIGHT_MODEL else CountedInsights(),
    )


def _asked(task: str) -> AskedModel:
    prefix = task.upper()
    completions = StructuredCompletions(
        base_url=settings.OPENAI_BASE_URL,
        api_key=settings.OPENAI_API_KEY,
        model=getattr(settings, f"{prefix}_MODEL"),
        timeout=settings.OPENAI_TIMEOUT_SECONDS,
    )
    paid_in, paid_out = (getattr(settings, f"{prefix}_{way}_PRICE") for way in ("INPUT", "OUTPUT"))
    return AskedModel(completions=completions, tariff=Tariff(task, paid_in, paid_out))
