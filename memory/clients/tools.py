"""The embedder, extractor and judge that the settings choose, loaded once a process."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from django.conf import settings

from memory.clients.embedders import WordLlamaEmbedder
from memory.clients.model_extractor import ModelExtractor
from memory.domain.extraction.rules import RulesExtractor
from memory.domain.judging.rules import RulesJudge
from memory.domain.ports import Embedder, Extractor, Judge
from routing.clients.completions import StructuredCompletions


@dataclass(frozen=True, slots=True)
class Tools:
    """What the write and read paths need from outside the database."""

    embedder: Embedder
    extractor: Extractor
    judge: Judge


@cache
def default_tools() -> Tools:
    """Rules and the embedded embedder; a model extracts when EXTRACTION_MODEL names one."""
    extractor: Extractor = RulesExtractor()
    if settings.EXTRACTION_MODEL:
        completions = StructuredCompletions(
            base_url=settings.OPENAI_BASE_URL,
            api_key=settings.OPENAI_API_KEY,
            model=settings.EXTRACTION_MODEL,
            timeout=settings.OPENAI_TIMEOUT_SECONDS,
        )
        extractor = ModelExtractor(completions=completions, fallback=extractor)
    return Tools(embedder=WordLlamaEmbedder(), extractor=extractor, judge=RulesJudge())
