"""Language models, embedders and budgets; without a model, the built-in rules are used."""

from __future__ import annotations

import os
from decimal import Decimal

from django.core.exceptions import ImproperlyConfigured

from config.env import (
    read_choice,
    read_decimal,
    read_float,
    read_int,
    read_prefixed,
    read_str,
)

# The endpoint of all language-model work; empty means the rules and the built-in embedder.
OPENAI_BASE_URL = read_str("OPENAI_BASE_URL", "")
OPENAI_API_KEY = read_str("OPENAI_API_KEY", "")
OPENAI_TIMEOUT_SECONDS = read_float("OPENAI_TIMEOUT_SECONDS", 60.0, minimum=0.1)
EXTRACTION_MODEL = read_str("EXTRACTION_MODEL", "")
# How many tokens it reads and writes at once; the longest message must fit beside the rules.
EXTRACTION_CONTEXT_TOKENS = read_int("EXTRACTION_CONTEXT_TOKENS", 32_768, minimum=24_576)
# Another model for the second pass; empty means the one of the first.
REVIEW_MODEL = read_str("REVIEW_MODEL", "")
if REVIEW_MODEL and not EXTRACTION_MODEL:
    raise ImproperlyConfigured("REVIEW_MODEL needs an EXTRACTION_MODEL, whose work it reviews.")
# The judge of contradictions; empty means the rules.
JUDGE_MODEL = read_str("JUDGE_MODEL", "")
# Writes the shorter versions of long memories; empty means the rules.
LEVELS_MODEL = read_str("LEVELS_MODEL", "")
# Sums up what a compaction takes out of a context; empty means the rules.
SUMMARY_MODEL = read_str("SUMMARY_MODEL", "")
# Tells episodes from talk, and insights about people; empty means the rules.
EPISODE_MODEL = read_str("EPISODE_MODEL", "")
INSIGHT_MODEL = read_str("INSIGHT_MODEL", "")
# The cheap model that scores how complex a query is; empty means the heuristics, which also answer
# when the model stays silent for the timeout.
CLASSIFIER_MODEL = read_str("CLASSIFIER_MODEL", "")
CLASSIFIER_TIMEOUT_SECONDS = read_float("CLASSIFIER_TIMEOUT_SECONDS", 3.0, minimum=0.1)

# The models that answer for agents, of teams without models of their own: name and prices in USD
# per 1,000 tokens, as seed 000 has them. Once one is named, tiers without a name are left out.
_CHAT_DEFAULTS = {
    "fast": ("anthropic/claude-haiku-4.5", "0.0008", "0.004"),
    "balanced": ("anthropic/claude-sonnet-4.5", "0.003", "0.015"),
    "powerful": ("anthropic/claude-opus-4", "0.015", "0.075"),
}
_chat_is_named = any(os.environ.get(f"CHAT_MODEL_{tier.upper()}") for tier in _CHAT_DEFAULTS)
CHAT_MODELS = {
    tier: (
        read_str(f"CHAT_MODEL_{tier.upper()}", "" if _chat_is_named else model),
        read_decimal(f"CHAT_INPUT_PRICE_{tier.upper()}", paid_in, maximum=Decimal(1_000)),
        read_decimal(f"CHAT_OUTPUT_PRICE_{tier.upper()}", paid_out, maximum=Decimal(1_000)),
    )
    for tier, (model, paid_in, paid_out) in _CHAT_DEFAULTS.items()
}


def _prices(task: str, model: str) -> tuple[Decimal, Decimal]:
    """USD per 1,000 tokens read and written; by default those of the chat model of that name."""
    named = (each for each in CHAT_MODELS.values() if model and each[0] == model)
    _, paid_in, paid_out = next(named, CHAT_MODELS["fast"])
    most = Decimal(1_000)
    return (
        read_decimal(f"{task}_INPUT_PRICE", str(paid_in), maximum=most),
        read_decimal(f"{task}_OUTPUT_PRICE", str(paid_out), maximum=most),
    )


# What the server's own questions cost, counted in the budgets of those whom they are about.
CLASSIFIER_INPUT_PRICE, CLASSIFIER_OUTPUT_PRICE = _prices("CLASSIFIER", CLASSIFIER_MODEL)
EXTRACTION_INPUT_PRICE, EXTRACTION_OUTPUT_PRICE = _prices("EXTRACTION", EXTRACTION_MODEL)
REVIEW_INPUT_PRICE, REVIEW_OUTPUT_PRICE = (
    _prices("REVIEW", REVIEW_MODEL)
    if REVIEW_MODEL
    else (EXTRACTION_INPUT_PRICE, EXTRACTION_OUTPUT_PRICE)
)
JUDGE_INPUT_PRICE, JUDGE_OUTPUT_PRICE = _prices("JUDGE", JUDGE_MODEL)
LEVELS_INPUT_PRICE, LEVELS_OUTPUT_PRICE = _prices("LEVELS", LEVELS_MODEL)
SUMMARY_INPUT_PRICE, SUMMARY_OUTPUT_PRICE = _prices("SUMMARY", SUMMARY_MODEL)
EPISODE_INPUT_PRICE, EPISODE_OUTPUT_PRICE = _prices("EPISODE", EPISODE_MODEL)
INSIGHT_INPUT_PRICE, INSIGHT_OUTPUT_PRICE = _prices("INSIGHT", INSIGHT_MODEL)
CHAT_CONTEXT_TOKENS = read_int("CHAT_CONTEXT_TOKENS", 200_000, minimum=1_024)
CHAT_MAX_OUTPUT_TOKENS = read_int("CHAT_MAX_OUTPUT_TOKENS", 8_192, minimum=1)
# The user of chat requests that name none.
CHAT_DEFAULT_USER = read_str("CHAT_DEFAULT_USER", "")
# No further model is tried for a request after this time.
CHAT_TRY_SECONDS = read_float("CHAT_TRY_SECONDS", 120.0, minimum=0.1)
# A momentary failure is retried once with the same model after about this time; 0 never retries.
CHAT_RETRY_SECONDS = read_float("CHAT_RETRY_SECONDS", 0.25, minimum=0.0)
# Consecutive failures that open a model's circuit, and for how long before one call probes it.
BREAKER_FAILURES = read_int("BREAKER_FAILURES", 3, minimum=1)
BREAKER_OPEN_SECONDS = read_float("BREAKER_OPEN_SECONDS", 30.0, minimum=0.1)
# Keys of the providers that team admins enter, by the name of their variable. PROVIDER_KEY_X_HOSTS
# and PROVIDER_KEY_X_TEAMS bind PROVIDER_KEY_X to these hosts and to these teams' slugs.
PROVIDER_KEYS = read_prefixed("PROVIDER_KEY_")

EMBEDDING_PROVIDER = read_choice(
    "EMBEDDING_PROVIDER", "onnx", choices=("onnx", "wordllama", "openai")
)
# Empty and 0 mean the provider's usual model and the model's own size. For onnx it may be the path
# of a folder with a sentence encoder.
EMBEDDING_MODEL = read_str("EMBEDDING_MODEL", "")
EMBEDDING_DIMENSIONS = read_int("EMBEDDING_DIMENSIONS", 0)
EMBEDDING_BATCH = read_int("EMBEDDING_BATCH", 100, minimum=1)
if EMBEDDING_BATCH > 2048:
    raise ImproperlyConfigured(f"EMBEDDING_BATCH must be at most 2048, not {EMBEDDING_BATCH}.")
EMBEDDING_BASE_URL = read_str("EMBEDDING_BASE_URL", OPENAI_BASE_URL)
# A key is sent only to the host it was set for.
EMBEDDING_API_KEY = read_str(
    "EMBEDDING_API_KEY", OPENAI_API_KEY if EMBEDDING_BASE_URL == OPENAI_BASE_URL else ""
)
# Where the model in use answers until a reembedding has switched to the configured one.
EMBEDDING_PREVIOUS_BASE_URL = read_str("EMBEDDING_PREVIOUS_BASE_URL", EMBEDDING_BASE_URL)
EMBEDDING_PREVIOUS_API_KEY = read_str(
    "EMBEDDING_PREVIOUS_API_KEY",
    EMBEDDING_API_KEY if EMBEDDING_PREVIOUS_BASE_URL == EMBEDDING_BASE_URL else "",
)
# The cosine above which a judge compares two texts; 0 means the embedder's own default.
EMBEDDING_OPPOSITION_SIMILARITY = read_float("EMBEDDING_OPPOSITION_SIMILARITY", 0.0)

# What models may cost, in USD, where a team says nothing else (seed 000): for each end user in a
# day, and for the whole team in a month.
DAILY_USER_BUDGET_USD = read_decimal("DAILY_USER_BUDGET_USD", "5", maximum=Decimal(999_999))
MONTHLY_TEAM_BUDGET_USD = read_decimal("MONTHLY_TEAM_BUDGET_USD", "100", maximum=Decimal(999_999))
# Above this share of a cap the router prefers a cheaper model.
BUDGET_NEAR_SHARE = read_decimal("BUDGET_NEAR_SHARE", "0.9", maximum=Decimal(1))
# How long an unsettled reservation holds money; longer than any call takes.
BUDGET_RESERVATION_SECONDS = read_int("BUDGET_RESERVATION_SECONDS", 600, minimum=1)
