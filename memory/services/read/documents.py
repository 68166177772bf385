"""A prompt with the documents that its caller passes along, in a section of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from memory.domain.plans.documents import DOCUMENTS_SHARE, Document, documents_section
from memory.domain.tokens import TokenCounter
from memory.services.read.prompting import BuiltPrompt


def with_documents(
    documents: Sequence[Document],
    *,
    token_budget: int,
    counter: TokenCounter,
    build: Callable[[int], BuiltPrompt],
) -> BuiltPrompt:
    """The prompt that `build` makes in the tokens that the documents leave it, and they after it.

    They take at most `DOCUMENTS_SHARE` of the budget, and nothing of it where there are none.
    """
    if not documents:
        return build(token_budget)
    told = documents_section(
        documents, token_budget=int(DOCUMENTS_SHARE * token_budget), counter=counter
    )
    built = build(token_budget - told.tokens)
    warnings = built.warnings
    if told.cut:
        warnings += (f"{told.cut} of {len(documents)} documents found no room",)
    stats = replace(
        built.stats,
        tokens_used=built.stats.tokens_used + told.tokens,
        token_budget=token_budget,
    )
    return replace(
        built,
        prompt="\n\n".join(filter(None, [built.prompt, told.prompt])),
        warnings=warnings,
        stats=stats,
        documents=told,
    )
