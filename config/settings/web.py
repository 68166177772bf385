"""Applications, middleware, the API framework, templates, the admin, cookies, static files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from django.templatetags.static import static
from django.urls import reverse_lazy

from config import __version__
from config.env import read_bool, read_int, read_list, read_str, read_url

from .installation import BASE_DIR, HOME, PRODUCTION

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
    "axes",
    "corsheaders",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "config",
    "teams",
    "audit",
    "routing",
    "memory",
    "memory.satellites.consent",
    "memory.satellites.confirmation",
    "memory.satellites.lifecycle",
    "memory.satellites.episodes",
    "memory.satellites.plans",
    "memory.satellites.tasks",
    "memory.satellites.workflows",
    "memory.satellites.webhooks",
    "memory.satellites.transfer",
    "memory.satellites.mcp",
    "memory.satellites.oauth",
    "memory.satellites.openid",
    "memory.satellites.mem0",
    "memory.satellites.langgraph",
    "memory.satellites.chat",
    "memory.satellites.demo",
    "memory.satellites.query",
    "memory.satellites.playground",
    "memory.satellites.time_travel",
]

# Pages of other origins that may ask the API, with the keys that they send and without cookies.
CORS_ALLOWED_ORIGINS = read_list("CORS_ALLOWED_ORIGINS")
CORS_URLS_REGEX = r"^/(v1|mcp|\.well-known/oauth-[a-z-]+|register|token|revoke)(/|$)"
# The wildcard does not cover Authorization (Fetch standard, CORS-preflight fetch).
CORS_ALLOW_HEADERS = ["authorization", "*"]
CORS_EXPOSE_HEADERS = ["*"]
CORS_MIDDLEWARE = ["corsheaders.middleware.CorsMiddleware"]

MIDDLEWARE = [
    "config.logs.RequestIdMiddleware",
    "config.metrics.MetricsMiddleware",
    *(CORS_MIDDLEWARE if CORS_ALLOWED_ORIGINS else []),
    "config.problems.ServiceUnavailableMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "teams.middleware.AdminCompressionMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "teams.middleware.StaffScopeMiddleware",
    "axes.middleware.AxesMiddleware",
]

CSRF_FAILURE_VIEW = "teams.admin_permissions.csrf_failure"

ROOT_URLCONF = "config.urls"
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

DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "teams.StaffUser"
# Of the link with which an invited login sets its password.
PASSWORD_RESET_TIMEOUT = timedelta(days=7).total_seconds()
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# How many proxies in front of the server each add an entry to X-Forwarded-For.
TRUSTED_PROXIES = read_int("TRUSTED_PROXIES", 0)
# Failed sign-ins to the admin, of one login from one address.
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "teams.authentication.client_address"
AXES_RESET_ON_SUCCESS = True
# Whoever goes on guessing does not prolong the lockout of somebody behind the same address.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "teams.admin_permissions.locked_out"
AXES_SENSITIVE_PARAMETERS = ["username", "ip_address", "otp_token"]
# No list of who signed in from where, and no page of it.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
OTP_TOTP_ISSUER = "Palimpsest"

# The OpenID provider whose people may sign in to the admin; the names are mozilla-django-oidc's.
OIDC_ISSUER = read_url("OIDC_ISSUER", "")
OIDC_RP_CLIENT_ID = read_str("OIDC_CLIENT_ID", None if OIDC_ISSUER else "")
OIDC_RP_CLIENT_SECRET = read_str("OIDC_CLIENT_SECRET", None if OIDC_ISSUER else "")
OIDC_CREATE_USER = read_bool("OIDC_CREATE_LOGINS", False)
OIDC_RP_SCOPES = "openid email profile"
OIDC_RP_SIGN_ALGO = "RS256"
OIDC_USE_PKCE = True
OIDC_TIMEOUT = 10

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["teams.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["memory.api.rendering.FastJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["config.parsers.BoundedJSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "config.problems.problem_response",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "UNAUTHENTICATED_USER": None,
    # A parameter called `format` is unknown like any other; Accept says what is wanted.
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Palimpsest",
    "DESCRIPTION": "A memory server for teams of AI agents.",
    "VERSION": __version__,
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_AUTHENTICATION": [],
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/v1",
    # A PATCH has a serializer of its own, which says what it needs.
    "COMPONENT_SPLIT_PATCH": False,
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "memory.api.schemas.document_all_operations",
    ],
    "ENUM_NAME_OVERRIDES": {
        "MemoryTypeEnum": "memory.models.memory.MEMORY_TYPES",
        "StatusEnum": "memory.models.memory.STATUSES",
        "TierEnum": "memory.models.memory.TIERS",
        "ScopeEnum": "memory.models.memory.SCOPES",
        "StatedScopeEnum": "memory.api.memories.STATED",
        "ClearedScopeEnum": "memory.api.projects.CLEARED",
        "CapEnum": "memory.api.routing.CAPS",
        "LayerNameEnum": "memory.api.retrieval.LAYER_NAMES",
        "ModelTierEnum": "teams.domain.agent_document.TIERS",
        "LevelEnum": "memory.api.found.LEVELS",
        "TextLevelEnum": "memory.api.found.TEXT_LEVELS",
        "RawLevelEnum": "memory.api.found.RAW",
        "RoleEnum": "teams.models.conversations.ROLES",
        "FullReturnEnum": "memory.api.found.ONLY_FULL",
        "SpeakerEnum": "memory.api.found.SPEAKERS",
    },
}

UNFOLD = {
    "SITE_TITLE": "Palimpsest",
    "SITE_HEADER": "Palimpsest",
    "SITE_SUBHEADER": "What your agents remember",
    "SITE_SYMBOL": "history_edu",
    "SITE_URL": None,
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda _: static("teams/admin/favicon.svg"),
        }
    ],
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "ENVIRONMENT": "teams.admin.display.zone_badge",
    "GLOBAL_CALLBACK": "teams.admin.team_choice.shown_choice",
    "DASHBOARD_CALLBACK": "memory.admin.home.dashboard",
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
        "navigation": "memory.admin.home.navigation",
    },
}

STATIC_URL = "/static/"
# Files for browsers, as `collectstatic` collects them in production.
STATIC_ROOT = Path(read_str("STATIC_ROOT", str(HOME / "static"))) if PRODUCTION else None
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
FORMAT_MODULE_PATH = ["config.formats"]
# English in place of some English of Django and of the theme.
LOCALE_PATHS = [BASE_DIR / "config/locale"]
LOGIN_URL = reverse_lazy("admin:login")
LOGIN_REDIRECT_URL = reverse_lazy("admin:index")
DATA_UPLOAD_MAX_MEMORY_SIZE = read_int("MAX_BODY_BYTES", 32 * 1024 * 1024, minimum=1024)
# Requests a minute of one API key and of all keys of a team; 0 for no limit.
RATE_LIMIT_KEY = read_int("RATE_LIMIT_KEY", 30_000)
RATE_LIMIT_TEAM = read_int("RATE_LIMIT_TEAM", 60_000)
DATA_UPLOAD_MAX_NUMBER_FIELDS = 5000

SESSION_COOKIE_AGE = 12 * 3600
CONTENT_SECURITY_POLICY = {
    # Pages are those of the admin; the API's own one, /v1/docs, has scripts of its own.
    "EXCLUDE_URL_PREFIXES": ["/v1/"],
    "DIRECTIVES": {
        "default-src": [SELF],
        # The theme's Alpine.js makes functions of the expressions in its attributes.
        "script-src": [SELF, UNSAFE_EVAL],
        # The theme's colours are an element of the page, and some of its parts have attributes.
        "style-src": [SELF, UNSAFE_INLINE],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}
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
