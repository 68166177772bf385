"""Django settings, read from the environment; without any, the embedded services are used."""

from __future__ import annotations

import os
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.urls import reverse_lazy

from . import embedded
from .env import (
    database_from_url,
    read_bool,
    read_choice,
    read_decimal,
    read_float,
    read_int,
    read_list,
    read_prefixed,
    read_str,
)

BASE_DIR = Path(__file__).resolve().parent.parent
HOME = embedded.home()

ENVIRONMENT = read_choice(
    "PALIMPSEST_ENV", "development", choices=("development", "production", "test")
)
PRODUCTION = ENVIRONMENT == "production"
DEBUG = False


def _secret_key() -> str:
    """The secret from the environment, or outside production the one kept in the home."""
    kept = HOME / "secret_key"
    if os.environ.get("DJANGO_SECRET_KEY") or PRODUCTION:
        return read_str("DJANGO_SECRET_KEY")
    if kept.is_file():
        return kept.read_text().strip()
    return "no-server-has-been-started-in-this-home-yet"


SECRET_KEY = _secret_key()
ALLOWED_HOSTS = read_list("ALLOWED_HOSTS", "" if PRODUCTION else "*")
CSRF_TRUSTED_ORIGINS = read_list("CSRF_TRUSTED_ORIGINS")
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("Set the environment variable ALLOWED_HOSTS.")

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "config",
    "teams",
    "audit",
    "routing",
    "memory",
]

MIDDLEWARE = [
    "config.metrics.MetricsMiddleware",
    "config.middleware.ServiceUnavailableMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "teams.middleware.StaffScopeMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# The two database roles. The application's may only insert and read the append-only tables and
# is held to the teams of the transaction; the owner migrates. With one login for both, the
# application's connections step down to the role when they open.
APP_ROLE = "palimpsest_app"


def _databases() -> dict[str, dict[str, Any]]:  # Any: Django's own loose settings shape
    url = os.environ.get("DATABASE_URL", "")
    if url:
        application = database_from_url("DATABASE_URL", url)
        owner_url = os.environ.get("DATABASE_OWNER_URL", "")
        owner = database_from_url("DATABASE_OWNER_URL", owner_url) if owner_url else application
    else:
        folder = embedded.postgres_socket_dir(HOME) or HOME / "postgres"
        base = {"NAME": read_str("PALIMPSEST_DATABASE", "palimpsest"), "HOST": str(folder)}
        application = {**base, "USER": APP_ROLE}
        owner = {**base, "USER": "palimpsest_owner"}
    common = {"ENGINE": "config.pooled"}
    limits = (
        f"-c role={APP_ROLE} -c jit=off -c statement_timeout=60000 -c lock_timeout=15000"
        " -c idle_in_transaction_session_timeout=60000"
    )
    # A server that went without a word is missed in seconds: no connection is asked before it is
    # lent.
    missed = {
        "tcp_user_timeout": 10_000,
        "keepalives_idle": 15,
        "keepalives_interval": 5,
        "keepalives_count": 3,
    }
    options: dict[str, Any] = {"options": limits, "connect_timeout": 5, **missed}
    pool_size = read_int("DATABASE_POOL_SIZE", 12)
    if pool_size:
        # Each connection that is lost is tried anew at growing distances until reconnect_timeout,
        # then on demand. A limit below the wait for a connection keeps the distances below it
        # too, so that the first request after an outage of any length is served.
        options["pool"] = {
            "min_size": 1,
            "max_size": pool_size,
            "timeout": 5,
            "reconnect_timeout": 3,
        }
    return {
        "default": {**common, **application, "OPTIONS": options},
        "owner": {**common, **owner, "OPTIONS": {"connect_timeout": 5}},
    }


DATABASES = _databases()
# The statement of a search is prepared and planned once a connection. A pooler that lends
# connections by transaction and does not know prepared statements wants this off.
DATABASE_PREPARE = read_bool("DATABASE_PREPARE", True)
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "teams.StaffUser"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

REDIS_URL = read_str("REDIS_URL", f"unix://{embedded.redis_socket(HOME)}")
# Every key of this installation begins with it, so that several may share one Redis.
REDIS_PREFIX = read_str("REDIS_PREFIX", "palimpsest")
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
        "OPTIONS": {"SOCKET_CONNECT_TIMEOUT": 1, "SOCKET_TIMEOUT": 2},
    }
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_TIME_LIMIT = 600
CELERY_TASK_DEFAULT_QUEUE = "palimpsest"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
# Publishing gives up quickly: the job's row is the truth, the sweep finds what was not published.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 1,
    "socket_timeout": 5,
    "visibility_timeout": 900,
    "global_keyprefix": f"{REDIS_PREFIX}:",
}
CELERY_BEAT_SCHEDULE = {
    "sweep-jobs": {
        "task": "memory.tasks.sweep_jobs",
        "schedule": read_float("JOB_SWEEP_SECONDS", 15.0, minimum=1.0),
    },
    "index-messages": {
        "task": "memory.tasks.index_messages",
        "schedule": read_float("MESSAGE_INDEX_SECONDS", 3.0, minimum=1.0),
    },
    "extend-graphs": {
        "task": "memory.tasks.extend_graphs",
        "schedule": read_float("GRAPH_EXTEND_SECONDS", 30.0, minimum=1.0),
    },
    "renew-statistics": {
        "task": "memory.tasks.renew_statistics",
        "schedule": read_float("STATISTICS_SECONDS", 10.0, minimum=1.0),
    },
    "flush-usage": {
        "task": "memory.tasks.flush_usage",
        "schedule": read_float("USAGE_FLUSH_SECONDS", 10.0, minimum=1.0),
    },
    "flush-key-use": {
        "task": "teams.tasks.flush_key_use",
        "schedule": read_float("KEY_USE_FLUSH_SECONDS", 30.0, minimum=1.0),
    },
    "seal-log": {
        "task": "audit.tasks.seal_log",
        "schedule": read_float("SEAL_SECONDS", 60.0, minimum=1.0),
    },
    "flush-events": {
        "task": "audit.tasks.flush_events",
        "schedule": read_float("EVENT_FLUSH_SECONDS", 5.0, minimum=1.0),
    },
    "keep-event-days": {
        "task": "audit.tasks.keep_event_days",
        "schedule": read_float("EVENT_DAYS_SECONDS", 3600.0, minimum=1.0),
    },
    "clear-caches-of-erased": {
        "task": "audit.tasks.clear_caches_of_erased",
        "schedule": read_float("ERASURE_SWEEP_SECONDS", 600.0, minimum=1.0),
    },
    "settle-kept-costs": {
        "task": "routing.tasks.settle_kept_costs",
        "schedule": read_float("SETTLE_KEPT_SECONDS", 15.0, minimum=1.0),
    },
    "prune-decisions": {
        "task": "routing.tasks.prune_decisions",
        "schedule": read_float("DECISION_PRUNE_SECONDS", 3600.0, minimum=1.0),
    },
    "prune-idempotent-requests": {
        "task": "teams.tasks.prune_idempotent_requests",
        "schedule": read_float("IDEMPOTENCY_PRUNE_SECONDS", 600.0, minimum=1.0),
    },
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["teams.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.parsers.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.problems.problem_response",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Palimpsest",
    "DESCRIPTION": "A memory server for teams of AI agents.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/v1",
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "memory.api.schema.document_idempotency",
    ],
    "ENUM_NAME_OVERRIDES": {
        "MemoryTypeEnum": "memory.models.memory.MEMORY_TYPES",
        "StatusEnum": "memory.models.memory.STATUSES",
        "TierEnum": "memory.models.memory.TIERS",
        "CapEnum": "memory.api.budget_output.CAPS",
        "LayerNameEnum": "memory.api.prompt_output.LAYER_NAMES",
        "ModelTierEnum": "teams.domain.model_config.TIERS",
        "LevelEnum": "memory.api.output.LEVELS",
        "RawLevelEnum": "memory.api.said_output.RAW",
        "RoleEnum": "teams.models.conversations.ROLES",
        "SpeakerEnum": "memory.api.said_output.SPEAKERS",
    },
}

STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "static" if PRODUCTION else None
WHITENOISE_USE_FINDERS = not PRODUCTION
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
}

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en-us"
LOGIN_URL = reverse_lazy("admin:login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")
DATA_UPLOAD_MAX_MEMORY_SIZE = read_int("MAX_BODY_BYTES", 32 * 1024 * 1024, minimum=1024)
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
if PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = read_bool("SECURE_SSL_REDIRECT", True)
    SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$", "^metrics$"]
    SECURE_HSTS_SECONDS = read_int("SECURE_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    SESSION_COOKIE_SECURE = True
    CSRF_COOKIE_SECURE = True

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    # The pool repeats each failed attempt; the request that needed it reports it once.
    # A refusal is the caller's to read, not the operator's.
    "loggers": {"psycopg.pool": {"level": "ERROR"}, "django.request": {"level": "ERROR"}},
    "root": {"handlers": ["stderr"], "level": read_str("LOG_LEVEL", "WARNING")},
}

# Who reads /metrics must send it; empty means that only this machine may, and not by a proxy.
METRICS_TOKEN = read_str("METRICS_TOKEN", "")

# What language-model work goes to; empty means the rules and the embedded embedder.
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
# The cheap model that scores how complex a query is; empty means the heuristics, who also stand in
# when it has not begun to answer after so many seconds.
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
# What the classifier costs, USD per 1,000 tokens: counted in the budgets of the query it judges.
CLASSIFIER_INPUT_PRICE = read_decimal(
    "CLASSIFIER_INPUT_PRICE", str(CHAT_MODELS["fast"][1]), maximum=Decimal(1_000)
)
CLASSIFIER_OUTPUT_PRICE = read_decimal(
    "CLASSIFIER_OUTPUT_PRICE", str(CHAT_MODELS["fast"][2]), maximum=Decimal(1_000)
)
CHAT_CONTEXT_TOKENS = read_int("CHAT_CONTEXT_TOKENS", 200_000, minimum=1_024)
CHAT_MAX_OUTPUT_TOKENS = read_int("CHAT_MAX_OUTPUT_TOKENS", 8_192, minimum=1)
# Whose conversations are those of chat clients that name no user.
CHAT_DEFAULT_USER = read_str("CHAT_DEFAULT_USER", "default")
# After so long no further model is tried for a request.
CHAT_TRY_SECONDS = read_float("CHAT_TRY_SECONDS", 120.0, minimum=0.1)
# What fails for a moment is asked of the same model once more after about so long; 0: never.
CHAT_RETRY_SECONDS = read_float("CHAT_RETRY_SECONDS", 0.25, minimum=0.0)
# So many failures in a row keep calls away from a model for so many seconds; then one tries it.
BREAKER_FAILURES = read_int("BREAKER_FAILURES", 3, minimum=1)
BREAKER_OPEN_SECONDS = read_float("BREAKER_OPEN_SECONDS", 30.0, minimum=0.1)
# Keys of the providers that team admins enter, by the name of their variable. PROVIDER_KEY_X_HOSTS
# and PROVIDER_KEY_X_TEAMS bind PROVIDER_KEY_X to these hosts and to these teams' slugs.
PROVIDER_KEYS = read_prefixed("PROVIDER_KEY_")

EMBEDDING_PROVIDER = read_choice(
    "EMBEDDING_PROVIDER", "wordllama", choices=("wordllama", "openai", "fastembed")
)
# Empty and 0 mean the provider's usual model and the model's own size.
EMBEDDING_MODEL = read_str("EMBEDDING_MODEL", "")
EMBEDDING_DIMENSIONS = read_int("EMBEDDING_DIMENSIONS", 0)
EMBEDDING_BATCH = read_int("EMBEDDING_BATCH", 100, minimum=1)
if EMBEDDING_BATCH > 2048:
    raise ImproperlyConfigured(f"EMBEDDING_BATCH must be at most 2048, not {EMBEDDING_BATCH}.")
EMBEDDING_BASE_URL = read_str("EMBEDDING_BASE_URL", OPENAI_BASE_URL)
# A key goes by itself only to the host it was given for.
EMBEDDING_API_KEY = read_str(
    "EMBEDDING_API_KEY", OPENAI_API_KEY if EMBEDDING_BASE_URL == OPENAI_BASE_URL else ""
)
# Where the model in use answers until a reembedding has switched to the configured one.
EMBEDDING_PREVIOUS_BASE_URL = read_str("EMBEDDING_PREVIOUS_BASE_URL", EMBEDDING_BASE_URL)
EMBEDDING_PREVIOUS_API_KEY = read_str(
    "EMBEDDING_PREVIOUS_API_KEY",
    EMBEDDING_API_KEY if EMBEDDING_PREVIOUS_BASE_URL == EMBEDDING_BASE_URL else "",
)
# The cosine above which a judge reads two texts; 0 means what fits the embedder.
EMBEDDING_OPPOSITION_SIMILARITY = read_float("EMBEDDING_OPPOSITION_SIMILARITY", 0.0)

# How long the answer under an Idempotency-Key is repeated, and after how long a run that has not
# ended counts as gone.
IDEMPOTENCY_HOURS = read_int("IDEMPOTENCY_HOURS", 24, minimum=1)
IDEMPOTENCY_LEASE_SECONDS = read_int("IDEMPOTENCY_LEASE_SECONDS", 300, minimum=1)

# Operational events are kept so many days; so many wait in Redis at most to be written down.
EVENT_DAYS = read_int("EVENT_DAYS", 90, minimum=1)
EVENT_BUFFER = read_int("EVENT_BUFFER", 100_000, minimum=1)

# Which model was chosen and why is kept so many days; 0 keeps it for ever.
DECISION_DAYS = read_int("DECISION_DAYS", 90)

# A thread's saved state: bytes of its JSON, and how many versions are kept, the last one included.
CHECKPOINT_MAX_BYTES = read_int("CHECKPOINT_MAX_BYTES", 1024 * 1024, minimum=1024)
CHECKPOINT_VERSIONS = read_int("CHECKPOINT_VERSIONS", 10, minimum=1)

# Keys of the log's seals: the first one seals, all of them verify. Kept apart from the database, so
# that who owns its tables cannot seal anew what was changed.
SEAL_KEYS = list(
    dict.fromkeys([read_str("SEAL_KEY", SECRET_KEY), *read_list("SEAL_KEYS_PREVIOUS"), SECRET_KEY])
)

# Whole parts that may be switched off (seed 000, feature flags); a team may override each.
ENABLE_MEMORY = read_bool("ENABLE_MEMORY", True)
ENABLE_COMPACTION_SHIELD = read_bool("ENABLE_COMPACTION_SHIELD", True)
ENABLE_CONTRADICTION_DETECTION = read_bool("ENABLE_CONTRADICTION_DETECTION", True)
ENABLE_MODEL_ROUTING = read_bool("ENABLE_MODEL_ROUTING", True)

# What models may cost, in USD, where a team says nothing else (seed 000): for each end user in a
# day, and for the whole team in a month.
DAILY_USER_BUDGET_USD = read_decimal("DAILY_USER_BUDGET_USD", "5", maximum=Decimal(999_999))
MONTHLY_TEAM_BUDGET_USD = read_decimal("MONTHLY_TEAM_BUDGET_USD", "100", maximum=Decimal(999_999))
# From this share of a cap on, the router is advised to take a cheaper model.
BUDGET_NEAR_SHARE = read_decimal("BUDGET_NEAR_SHARE", "0.9", maximum=Decimal(1))
# How long money is held for a call that nobody settles; longer than any call takes.
BUDGET_RESERVATION_SECONDS = read_int("BUDGET_RESERVATION_SECONDS", 600, minimum=1)

MAX_CONTENT_CHARS = 32_000
MAX_ITEMS_PER_REQUEST = 500
# Messages between two extractions, for agents created when first named; each has its own.
SUMMARIZE_INTERVAL = read_int("SUMMARIZE_INTERVAL", 20, minimum=1)
# What talk may write by itself (seed 004 §13); 0 lifts a cap. Compaction and imports have none.
MAX_MEMORIES_PER_TURN = read_int("MAX_MEMORIES_PER_TURN", 3)
MAX_MEMORIES_PER_USER_DAY = read_int("MAX_MEMORIES_PER_USER_DAY", 2000)
JOB_LEASE_SECONDS = read_int("JOB_LEASE_SECONDS", 30, minimum=3)
JOB_MAX_ATTEMPTS = read_int("JOB_MAX_ATTEMPTS", 5, minimum=1)
# A job reads and writes so many messages at a time.
EXTRACTION_WINDOW_MESSAGES = read_int("EXTRACTION_WINDOW_MESSAGES", 50, minimum=1)
# A request that extracts or compacts answers after so long; what is left goes on behind it.
EXTRACT_WAIT_SECONDS = read_float("EXTRACT_WAIT_SECONDS", 120.0, minimum=0.0)
COMPACT_WAIT_SECONDS = read_float("COMPACT_WAIT_SECONDS", 20.0, minimum=0.0)
DUPLICATE_SIMILARITY = read_float("DUPLICATE_SIMILARITY", 0.95)
# A read that is not told how deep to look goes on to cold memories, and to the messages themselves,
# when the best memory found so far says less about the question than this (relevance, 0-1). Above
# it the messages of conversations that were extracted added 2 points of recall at 10, below it 9.
CASCADE_COLD_BELOW = read_float("CASCADE_COLD_BELOW", 0.65, minimum=0.0)
CASCADE_RAW_BELOW = read_float("CASCADE_RAW_BELOW", 0.65, minimum=0.0)
# How long Redis keeps an answer for who asks the same again; any change of the team's memories ends
# it at once, the time bounds how far the recency of its memories may drift. 0 keeps none.
HOT_ANSWER_SECONDS = read_int("HOT_ANSWER_SECONDS", 300)
# Owners with more memories are searched by the approximate index where that is quicker, others
# exactly; teams get one from so many memories on. A step in it costs as much as so many comparisons
# of vectors. What a scan keeps at a time, and how many vectors it looks at, at most.
EXACT_SEARCH_LIMIT = read_int("EXACT_SEARCH_LIMIT", 5_000, minimum=1)
GRAPH_STEP_COST = read_int("GRAPH_STEP_COST", 30)
GRAPH_EF_SEARCH = min(1_000, read_int("GRAPH_EF_SEARCH", 120, minimum=1))  # pgvector's most
GRAPH_MAX_SCAN = read_int("GRAPH_MAX_SCAN", 40_000, minimum=1)
# From how many memories on an owner is searched by a sketch, and of how many memories a process
# keeps some (0 for none): a memory takes 200 bytes, more with vectors of more than 256 dimensions,
# of which accordingly fewer are kept. A process of eight busy threads took 220 MB without any, 290
# with 126,000 memories and 325 with 300,000.
SKETCH_FROM = read_int("SKETCH_FROM", 2_000)
SKETCH_MOST_MEMORIES = read_int("SKETCH_MOST_MEMORIES", 300_000)
# A filter that leaves no more memories than this is applied before the search, else after it.
FILTERED_FIRST = read_int("FILTERED_FIRST", 20_000, minimum=1)
# Up to this many neighbours of a new memory are judged, and this many become related to it.
JUDGED_NEIGHBOURS = read_int("JUDGED_NEIGHBOURS", 3, minimum=1)
LINKED_NEIGHBOURS = read_int("LINKED_NEIGHBOURS", 3)
LINK_SIMILARITY = read_float("LINK_SIMILARITY", 0.45)

UNFOLD = {
    "SITE_TITLE": "Palimpsest",
    "SITE_HEADER": "Palimpsest",
    "SITE_SUBHEADER": "What your agents remember",
    "SITE_SYMBOL": "history_edu",
    "SITE_URL": None,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "memory.admin.dashboard.dashboard",
    "COLORS": {
        "primary": {
            "50": "oklch(96.2% .018 272.314)",
            "100": "oklch(93% .034 272.788)",
            "200": "oklch(87% .065 274.039)",
            "300": "oklch(78.5% .115 274.713)",
            "400": "oklch(74% .145 276)",
            "500": "oklch(69% .175 276.935)",
            "600": "oklch(51.1% .262 276.966)",
            "700": "oklch(45.7% .24 277.023)",
            "800": "oklch(39.8% .195 277.366)",
            "900": "oklch(35.9% .144 278.697)",
            "950": "oklch(25.7% .09 281.288)",
        },
    },
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": False,
        "navigation": "memory.admin.navigation.navigation",
    },
}
