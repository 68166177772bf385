"""Memory (limits, caps, retention), language models, embedders and budgets.

docs/configuration.md describes each variable.
"""

from __future__ import annotations

import os
from decimal import Decimal

from django.core.exceptions import ImproperlyConfigured

from config.env import (
    read_bool,
    read_choice,
    read_decimal,
    read_float,
    read_int,
    read_list,
    read_prefixed,
    read_str,
)

from .installation import PRODUCTION, SECRET_KEY

# Whole parts that may be switched off (seed 000, feature flags); a team may override each.
ENABLE_MEMORY = read_bool("ENABLE_MEMORY", True)
ENABLE_COMPACTION_SHIELD = read_bool("ENABLE_COMPACTION_SHIELD", True)
ENABLE_CONTRADICTION_DETECTION = read_bool("ENABLE_CONTRADICTION_DETECTION", True)
ENABLE_MODEL_ROUTING = read_bool("ENABLE_MODEL_ROUTING", True)
ENABLE_TEAM_FACTS = read_bool("ENABLE_TEAM_FACTS", True)
ENABLE_EPISODES = read_bool("ENABLE_EPISODES", True)
ENABLE_INSIGHTS = read_bool("ENABLE_INSIGHTS", True)

MAX_CONTENT_CHARS = 32_000
MAX_ITEMS_PER_REQUEST = 500
MAX_CHARS_PER_REQUEST = 2_000_000
SUMMARIZE_INTERVAL = read_int("SUMMARIZE_INTERVAL", 20, minimum=1)
CONVERSATION_REST_MINUTES = read_float("CONVERSATION_REST_MINUTES", 10.0, minimum=0.0)
EPISODE_REST_HOURS = read_int("EPISODE_REST_HOURS", 6, minimum=1)
MAX_MEMORIES_PER_TURN = read_int("MAX_MEMORIES_PER_TURN", 3)
MAX_MEMORIES_PER_USER_DAY = read_int("MAX_MEMORIES_PER_USER_DAY", 2000)
JOB_MAX_ATTEMPTS = read_int("JOB_MAX_ATTEMPTS", 5, minimum=1)
JOB_PAUSE_SECONDS = read_float("JOB_PAUSE_SECONDS", 150.0, minimum=0.0)
EXTRACTION_WINDOW_MESSAGES = read_int("EXTRACTION_WINDOW_MESSAGES", 50, minimum=1)
EXTRACTION_WINDOW_CHARACTERS = read_int("EXTRACTION_WINDOW_CHARACTERS", 60_000, minimum=1)
EXTRACTION_WINDOW_SECONDS = read_float("EXTRACTION_WINDOW_SECONDS", 300.0, minimum=1.0)
JOB_SLICE_SECONDS = read_float("JOB_SLICE_SECONDS", 10.0, minimum=0.0)
EXTRACT_WAIT_SECONDS = read_float("EXTRACT_WAIT_SECONDS", 120.0, minimum=0.0)
COMPACT_WAIT_SECONDS = read_float("COMPACT_WAIT_SECONDS", 20.0, minimum=0.0)
DUPLICATE_SIMILARITY = read_float("DUPLICATE_SIMILARITY", 0.95)
HOT_ANSWER_SECONDS = read_int("HOT_ANSWER_SECONDS", 300)
EXACT_SEARCH_LIMIT = read_int("EXACT_SEARCH_LIMIT", 5_000, minimum=1)
GRAPH_STEP_COST = read_int("GRAPH_STEP_COST", 30)
GRAPH_EF_SEARCH = min(1_000, read_int("GRAPH_EF_SEARCH", 120, minimum=1))  # pgvector's most
GRAPH_MAX_SCAN = read_int("GRAPH_MAX_SCAN", 40_000, minimum=1)
FILTERED_FIRST = read_int("FILTERED_FIRST", 20_000, minimum=1)
JUDGED_NEIGHBOURS = read_int("JUDGED_NEIGHBOURS", 5, minimum=1)
LINKED_NEIGHBOURS = read_int("LINKED_NEIGHBOURS", 3)
LINK_SIMILARITY = read_float("LINK_SIMILARITY", 0.45)

IDEMPOTENCY_HOURS = read_int("IDEMPOTENCY_HOURS", 24, minimum=1)
IDEMPOTENCY_LEASE_SECONDS = read_int("IDEMPOTENCY_LEASE_SECONDS", 300, minimum=1)

EVENT_DAYS = read_int("EVENT_DAYS", 90, minimum=1)
EVENT_BUFFER = read_int("EVENT_BUFFER", 100_000, minimum=1)

DECISION_DAYS = read_int("DECISION_DAYS", 90)

CHECKPOINT_MAX_BYTES = read_int("CHECKPOINT_MAX_BYTES", 1024 * 1024, minimum=1024)
CHECKPOINT_VERSIONS = read_int("CHECKPOINT_VERSIONS", 10, minimum=1)

# Keys of the log's seals: the first one seals, all of them verify. They are kept outside the
# database, so that the owner of its tables cannot reseal a changed log.
SEAL_KEYS = list(
    dict.fromkeys([read_str("SEAL_KEY", SECRET_KEY), *read_list("SEAL_KEYS_PREVIOUS"), SECRET_KEY])
)

TASK_TTL_SECONDS = read_int("TASK_TTL_SECONDS", 24 * 3600, minimum=1)
TASK_MAX_TTL_SECONDS = read_int("TASK_MAX_TTL_SECONDS", 7 * 24 * 3600, minimum=1)
TASK_MAX_OPEN = read_int("TASK_MAX_OPEN", 1_000, minimum=1)
TASK_MAX_ITEMS = read_int("TASK_MAX_ITEMS", 500, minimum=1)
TASK_MAX_BYTES = read_int("TASK_MAX_BYTES", 1024 * 1024, minimum=1024)
TASK_FINISHED_SECONDS = read_int("TASK_FINISHED_SECONDS", 24 * 3600, minimum=1)

# Whether webhooks may lead to addresses of the own network, and without encryption: for receivers
# beside the server, where everybody who may set webhooks up is trusted with that network.
WEBHOOKS_TO_PRIVATE_ADDRESSES = read_bool("WEBHOOKS_TO_PRIVATE_ADDRESSES", False)
WEBHOOK_TIMEOUT_SECONDS = read_float("WEBHOOK_TIMEOUT_SECONDS", 10.0, minimum=0.1)
WEBHOOK_DAYS = read_int("WEBHOOK_DAYS", 35, minimum=32)


OPENAI_BASE_URL = read_str("OPENAI_BASE_URL", "")
OPENAI_API_KEY = read_str("OPENAI_API_KEY", "")
OPENAI_TIMEOUT_SECONDS = read_float("OPENAI_TIMEOUT_SECONDS", 60.0, minimum=0.1)
EXTRACTION_MODEL = read_str("EXTRACTION_MODEL", "")
EXTRACTION_CONTEXT_TOKENS = read_int("EXTRACTION_CONTEXT_TOKENS", 32_768, minimum=24_576)
REVIEW_MODEL = read_str("REVIEW_MODEL", "")
if REVIEW_MODEL and not EXTRACTION_MODEL:
    raise ImproperlyConfigured("REVIEW_MODEL needs an EXTRACTION_MODEL, whose work it reviews.")
JUDGE_MODEL = read_str("JUDGE_MODEL", "")
LEVELS_MODEL = read_str("LEVELS_MODEL", "")
SUMMARY_MODEL = read_str("SUMMARY_MODEL", "")
EPISODE_MODEL = read_str("EPISODE_MODEL", "")
INSIGHT_MODEL = read_str("INSIGHT_MODEL", "")
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
CHAT_DEFAULT_USER = read_str("CHAT_DEFAULT_USER", "")
CHAT_TRY_SECONDS = read_float("CHAT_TRY_SECONDS", 120.0, minimum=0.1)
CHAT_RETRY_SECONDS = read_float("CHAT_RETRY_SECONDS", 0.25, minimum=0.0)
BREAKER_FAILURES = read_int("BREAKER_FAILURES", 3, minimum=1)
BREAKER_OPEN_SECONDS = read_float("BREAKER_OPEN_SECONDS", 30.0, minimum=0.1)
PROVIDER_KEYS = read_prefixed("PROVIDER_KEY_")
# Hosts at private addresses that providers of teams may name; * is all of them.
PROVIDER_PRIVATE_HOSTS = [
    each.lower() for each in read_list("PROVIDER_PRIVATE_HOSTS", "" if PRODUCTION else "*")
]
# Keys that are typed in the admin: the first secret encrypts them, all of them decrypt.
PROVIDER_KEYS_SECRETS = list(
    dict.fromkeys(
        [
            read_str("PROVIDER_KEYS_SECRET", SECRET_KEY),
            *read_list("PROVIDER_KEYS_SECRETS_PREVIOUS"),
            SECRET_KEY,
        ]
    )
)

EMBEDDING_PROVIDER = read_choice(
    "EMBEDDING_PROVIDER", "onnx", choices=("onnx", "wordllama", "openai")
)
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
EMBEDDING_PREVIOUS_BASE_URL = read_str("EMBEDDING_PREVIOUS_BASE_URL", EMBEDDING_BASE_URL)
EMBEDDING_PREVIOUS_API_KEY = read_str(
    "EMBEDDING_PREVIOUS_API_KEY",
    EMBEDDING_API_KEY if EMBEDDING_PREVIOUS_BASE_URL == EMBEDDING_BASE_URL else "",
)
EMBEDDING_OPPOSITION_SIMILARITY = read_float("EMBEDDING_OPPOSITION_SIMILARITY", 0.0)

DAILY_USER_BUDGET_USD = read_decimal("DAILY_USER_BUDGET_USD", "5", maximum=Decimal(999_999))
MONTHLY_TEAM_BUDGET_USD = read_decimal("MONTHLY_TEAM_BUDGET_USD", "100", maximum=Decimal(999_999))
BUDGET_NEAR_SHARE = read_decimal("BUDGET_NEAR_SHARE", "0.9", maximum=Decimal(1))
BUDGET_RESERVATION_SECONDS = read_int("BUDGET_RESERVATION_SECONDS", 600, minimum=1)
