"""Django settings: defaults for a laptop, overridden by environment variables.

There is only this settings file. The embedded service (SQLite, in-memory broker) and a
production service (PostgreSQL, Redis) differ only in DATABASE_URL and BROKER_URL.
docs/operating.md explains every environment variable, and comments here say only what
it leaves out; a test compares both files.
"""

import os
import sys
from pathlib import Path

import django_stubs_ext
import structlog

from ladder.common import logs, private_files
from ladder.common.environment import Environment
from ladder.common.output import PatientOutput
from torres.runner.protocol import SHOWN_STDERR_BYTES

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
env = Environment(os.environ)

DATA_DIR = Path(env.str("TORRES_DATA", default=str(BASE_DIR / ".data"))).resolve()

# True in a process that runs uploaded bots and nothing else. It starts only without the
# secrets of the service, because a bot that escapes could read them.
TORRES_WORKER = env.bool("TORRES_WORKER", default=False)
# Signs sessions and CSRF tokens. It must be secret, and the same on all hosts but those
# of workers. With SQLite a random key in the data folder replaces an empty one, below.
SECRET_KEY = env.str("SECRET_KEY", default="")
MIN_SECRET_KEY_LENGTH = 32
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    # Not "django.contrib.admin": only the web server reads the forms (ladder/urls.py).
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "ladder.accounts",
    "ladder.events",
    "ladder.public_log",
    "ladder.bots",
    "ladder.games",
    "ladder.moderation",
    "ladder.ratings",
    "ladder.extras.comparisons",
    "ladder.extras.analysis",
    "ladder.extras.practice",
    "ladder.extras.editor",
    "ladder.tournaments",
    "ladder.extras.anomalies",
    "ladder.extras.self_audit",
    "ladder.extras.spot_checks",
    "ladder.extras.follows",
    "ladder.extras.webhooks",
    "ladder.health",
    "ladder.web",
    "ladder.ops",
]
MIDDLEWARE = [
    # The first one, because a probe knows neither the name of the host nor HTTPS.
    "ladder.health.middleware.HealthRoutes",
    "ladder.web.middleware.responses.RequestIds",
    "django.middleware.security.SecurityMiddleware",
    "ladder.web.middleware.responses.ContentSecurityPolicy",
    # Above everything that may answer with a page.
    "ladder.web.middleware.languages.PageLanguages",
    # Above SharedAnswers, because visitors share no rate limits.
    "ladder.web.api.throttles.RateLimitHeaders",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ladder.web.middleware.responses.SharedAnswers",
    # Below SharedAnswers, so that a shared response is compressed once. It adds random
    # bytes, so that the length of a page tells nothing about its secrets (BREACH).
    "django.middleware.gzip.GZipMiddleware",
    "ladder.web.api.throttles.PageLimit",
    # Below SharedAnswers, so that shared responses have its header.
    "ladder.web.middleware.hidden_results.HiddenResults",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "ladder.accounts.sessions.TokenSessions",
    "ladder.web.api.token_scopes.SessionScopes",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "ladder.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # The page elements of the viewer belong to the package of the command, too.
        "DIRS": [BASE_DIR / "torres" / "viewer" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "ladder.web.context.accounts",
                "ladder.web.context.results",
            ]
        },
    }
]

# IMMEDIATE takes the write lock at the start of each transaction. Otherwise a
# transaction that reads first and writes later fails at once with "database is locked",
# regardless of the timeout. So every atomic block is a writer: keep the blocks short.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA foreign_keys=ON;"
    ),
}
# The URL of PostgreSQL itself, if DATABASE_URL points to a connection pooler in
# transaction mode (PgBouncer). `manage.py restore` looks there who uses the database.
DATABASE_DIRECT_URL = env.str("DATABASE_DIRECT_URL", default="")
# PostgreSQL ends a statement that takes longer, or waits for a lock for longer. 0 is no
# limit. So no loop of the service hangs in a statement.
TORRES_STATEMENT_SECONDS = env.float("TORRES_STATEMENT_SECONDS", default=60.0)
TORRES_LOCK_SECONDS = env.float("TORRES_LOCK_SECONDS", default=10.0)
# - tcp_user_timeout (ms): during a network outage a query fails instead of hanging for
#   minutes. The tasks handle the failure and try again.
# - options: the same timeouts on the server's side. Otherwise the session of a host
#   that lost its network keeps its locks for hours. PgBouncer
#   must ignore these options (ignore_startup_parameters = options).
# - prepare_threshold: prepare a statement after 5 executions. Behind a pooler,
#   DB_PREPARE must state that the pooler supports it: PgBouncer does since 1.22,
#   with max_prepared_statements.
# - pool: one pool per process, so processes x DB_POOL must stay below max_connections.
#   A game returns its connection to the pool while its bots think.
POSTGRES_OPTIONS = {
    "connect_timeout": 3,
    "tcp_user_timeout": 5000,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "options": (
        "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2"
        " -c tcp_keepalives_count=3 -c tcp_user_timeout=10000"
        " -c idle_in_transaction_session_timeout=30000"
        f" -c statement_timeout={TORRES_STATEMENT_SECONDS}s"
        f" -c lock_timeout={TORRES_LOCK_SECONDS}s"
    ),
    "prepare_threshold": 5
    if env.bool("DB_PREPARE", default=not DATABASE_DIRECT_URL)
    else None,
    "pool": {
        "min_size": 1,
        "max_size": env.int("DB_POOL", default=16),
        "timeout": 10,
        "reconnect_timeout": 5,
    },
}
TORRES_ALIVE_FILE = env.str("TORRES_ALIVE_FILE", default="")
# With this password `manage.py prepare` lets workers sign in, under the name of the
# database and "_worker". For single hosts there is `manage.py worker_role`.
TORRES_WORKER_PASSWORD = env.str("TORRES_WORKER_PASSWORD", default="")
DATABASES = {
    "default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'ladder.db'}")
}
IS_POSTGRESQL = not DATABASES["default"]["ENGINE"].endswith("sqlite3")
if not IS_POSTGRESQL:
    DATABASES["default"].setdefault("OPTIONS", {}).update(SQLITE_OPTIONS)
    # s. There is no pool, and opening SQLite costs more than a look at the database:
    # with a connection for each look, an idle service takes more than twice as long.
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    # Tests use a file instead of memory, so that threads and processes share the rows.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.db")}
else:
    is_weak = len(SECRET_KEY) < MIN_SECRET_KEY_LENGTH or SECRET_KEY.startswith("CHANGE")
    if is_weak and not TORRES_WORKER:
        env.refuse(
            "SECRET_KEY is missing or too short, so anybody could forge sessions. Set"
            f" it to {MIN_SECRET_KEY_LENGTH} or more random characters, the same on all"
            " hosts, for example the output of: openssl rand -hex 32"
        )
    DATABASES["default"].setdefault("OPTIONS", {}).update(POSTGRES_OPTIONS)
    # Behind a pooler the next query may run in another session, without the cursor.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = bool(DATABASE_DIRECT_URL)
    # It tests a connection before its use, so that a restart of the server fails no
    # query, and does so less often than Django's own.
    DATABASES["default"]["ENGINE"] = "ladder.common.postgresql"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LANGUAGE_CODE = "en"
# The languages of the pages, by their own names, for readers who look for theirs.
LANGUAGES = [
    ("en", "English"),
    ("pt", "Português"),
    ("es", "Español"),
    ("de", "Deutsch"),
]
LOCALE_PATHS = [BASE_DIR / "ladder" / "locale"]
FORMAT_MODULE_PATH = "ladder.common.formats"
# A year. `ladder.web.middleware.languages` decides which language a page has.
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATICFILES_DIRS = [("web", BASE_DIR / "torres" / "viewer" / "static")]
STATIC_ROOT = env.str("TORRES_STATIC", default=None)
TORRES_DATASETS = env.str("TORRES_DATASETS", default="")
# The secret key of the public log, which only the dispatcher reads, and the name of the
# log in its checkpoints. A name never changes. docs/public-log.md explains both.
TORRES_LOG_KEY = env.str("TORRES_LOG_KEY", default="")
TORRES_LOG_ORIGIN = env.str("TORRES_LOG_ORIGIN", default="")
TORRES_WITNESSES = env.list("TORRES_WITNESSES", default=[])
TORRES_COMMITTED_DECKS = env.bool("TORRES_COMMITTED_DECKS", default=True)
TORRES_MATCH_HOURS = env.float("TORRES_MATCH_HOURS", default=24.0)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # The uploaded packages. No URL serves them. All hosts must see the same ones: in a
    # shared folder, or in a bucket of an object store.
    "bots": env.storage("TORRES_UPLOADS", default=DATA_DIR / "submissions"),
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
# The cache that holds the request counters. Several hosts need a shared one
# (redis://…); otherwise each process counts by itself.
CACHES = {"default": env.cache("CACHE_URL", default="locmemcache://")}
if CACHES["default"]["BACKEND"].endswith("LocMemCache"):
    # With Django's default of 300 entries the counters of sign-in attempts are evicted.
    CACHES["default"]["OPTIONS"] = {"MAX_ENTRIES": 20_000}
TORRES_FRESH_SECONDS = env.float("TORRES_FRESH_SECONDS", default=2.0)
CACHES["pages"] = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "LOCATION": "pages",
    "OPTIONS": {"MAX_ENTRIES": 300},
}

# `ladder.ops.deployment` replaces these checks, because they name settings that are no
# variables here. A proxy redirects to HTTPS; other hosts of the domain are not ours.
SILENCED_SYSTEM_CHECKS = [
    f"security.{number}" for number in ("W004", "W005", "W008", "W012", "W016", "W021")
]

# Accounts, sessions and security headers.
AUTHENTICATION_BACKENDS = [
    # The first one, so that it can refuse permissions to a token without their scope.
    "ladder.accounts.authentication.TokenLimits",
    "django.contrib.auth.backends.ModelBackend",
    "ladder.accounts.authentication.TokenBackend",
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/me/"
LOGOUT_REDIRECT_URL = "/"
SESSION_COOKIE_HTTPONLY = True
# True if visitors use HTTPS only: browsers then send cookies only over HTTPS.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("TORRES_HTTPS", default=False)
LANGUAGE_COOKIE_SECURE = SESSION_COOKIE_SECURE
# Browsers then refuse plain HTTP for this host during a year.
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if SESSION_COOKIE_SECURE else 0
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
# Who may sign up on the pages: open (everybody), invitation (people with a code of
# `manage.py operator invite`) or closed. `manage.py up --demo` opens an unset one.
TORRES_SIGN_UP = env.str("TORRES_SIGN_UP", default="closed")
TORRES_CONTACT = env.str("TORRES_CONTACT", default="")
TORRES_GITHUB_CLIENT = env.str("TORRES_GITHUB_CLIENT", default="")
TORRES_GITHUB_SECRET = env.str("TORRES_GITHUB_SECRET", default="")
TORRES_GITHUB_URL = env.str("TORRES_GITHUB_URL", default="https://github.com").rstrip(
    "/"
)
# The links in mail expire after this many seconds.
PASSWORD_RESET_TIMEOUT = 24 * 3600
SECURE_SSL_REDIRECT = False  # the proxy redirects
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "ladder.web.api.problems.csrf_failed"
# The limit of all fields of a form together, in bytes. `ladder.web.middleware.bodies`
# limits the whole body, with the files.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 << 10
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
DATA_UPLOAD_MAX_NUMBER_FILES = 4

# The mail server, such as smtp+tls://USER:PASSWORD@mail.example.org:587. Without it
# the service sends no mail, and asks for no address.
TORRES_SENDS_MAIL = bool(env.str("TORRES_EMAIL_URL", default=""))
vars().update(env.email("TORRES_EMAIL_URL"))  # EMAIL_BACKEND, EMAIL_HOST, …
# A mail server that does not answer holds up a thread for this many seconds.
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("TORRES_EMAIL_FROM", default="")

# The sandbox level that uploaded bots require: isolated, full, reduced or none. Bots
# wait as long as no worker offers this level.
TORRES_SANDBOX = env.str("TORRES_SANDBOX", default="full")
TORRES_UNSAFE = env.bool("TORRES_UNSAFE", default=False)
if TORRES_SANDBOX == "none" and IS_POSTGRESQL and not TORRES_UNSAFE:
    env.refuse(
        "TORRES_SANDBOX=none lets uploaded bots read and change everything that the"
        " workers can, also the database. Use full or reduced. If you trust every user"
        " who may upload, confirm it with TORRES_UNSAFE=1."
    )

TORRES_CACHE_MB = env.int("TORRES_CACHE_MB", default=4096)

TORRES_UPLOAD_BYTES = env.int("TORRES_UPLOAD_BYTES", default=64 << 20)
TORRES_BOTS_PER_OWNER = env.int("TORRES_BOTS_PER_OWNER", default=50)
TORRES_UPLOADS_PER_HOUR = env.int("TORRES_UPLOADS_PER_HOUR", default=60)
TORRES_BYTES_PER_OWNER = env.int("TORRES_BYTES_PER_OWNER", default=1 << 30)

# Quotas of the private logs of bots, in bytes: of one seat of one game, and of all
# games of one bot in a day. Above them, logs are shortened (`games.seat_logs`).
TORRES_SEAT_LOG_BYTES = env.int("TORRES_SEAT_LOG_BYTES", default=2 * SHOWN_STDERR_BYTES)
TORRES_BOT_LOG_BYTES = env.int("TORRES_BOT_LOG_BYTES", default=2 << 20)

# How long the service keeps what no result depends on, in days; scratch files in
# hours. Fractions are permitted. The dispatcher deletes what is older.
TORRES_KEEP_LOGS_DAYS = env.float("TORRES_KEEP_LOGS_DAYS", default=30.0)
TORRES_KEEP_ANSWERS_DAYS = env.float("TORRES_KEEP_ANSWERS_DAYS", default=7.0)
TORRES_KEEP_WORKERS_DAYS = env.float("TORRES_KEEP_WORKERS_DAYS", default=30.0)
TORRES_KEEP_REJECTED_DAYS = env.float("TORRES_KEEP_REJECTED_DAYS", default=30.0)
TORRES_KEEP_ANALYSES_DAYS = env.float("TORRES_KEEP_ANALYSES_DAYS", default=365.0)
TORRES_KEEP_PRACTICE_DAYS = env.float("TORRES_KEEP_PRACTICE_DAYS", default=30.0)
TORRES_KEEP_GUEST_DAYS = env.float("TORRES_KEEP_GUEST_DAYS", default=1.0)
TORRES_KEEP_EXPIRED_DAYS = env.float("TORRES_KEEP_EXPIRED_DAYS", default=1.0)
TORRES_KEEP_EVENTS_DAYS = env.float("TORRES_KEEP_EVENTS_DAYS", default=7.0)
TORRES_KEEP_SCRATCH_HOURS = env.float("TORRES_KEEP_SCRATCH_HOURS", default=24.0)

TORRES_ALARM_MAIL = env.list("TORRES_ALARM_MAIL", default=[])
TORRES_ALARM_URL = env.str("TORRES_ALARM_URL", default="")
TORRES_MONITOR_WEB = env.list("TORRES_MONITOR_WEB", default=[])
TORRES_METRICS_TOKEN = env.str("TORRES_METRICS_TOKEN", default="")

# Traces of OpenTelemetry: the collector to which they are sent. Without one there are
# none. The SDK reads these variables itself, and all others that begin with OTEL_.
COLLECTORS = [
    env.collector("OTEL_EXPORTER_OTLP_ENDPOINT"),
    env.collector("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
]
env.str("OTEL_EXPORTER_OTLP_PROTOCOL", default="http/protobuf")
OTEL_TRACES_EXPORTER = env.str("OTEL_TRACES_EXPORTER", default="otlp")
OTEL_SDK_DISABLED = env.bool("OTEL_SDK_DISABLED", default=False)
TRACES = any(COLLECTORS) and OTEL_TRACES_EXPORTER == "otlp" and not OTEL_SDK_DISABLED

TORRES_WEBHOOKS_PER_USER = env.int("TORRES_WEBHOOKS_PER_USER", default=10)
TORRES_WEBHOOK_NETWORKS = env.networks("TORRES_WEBHOOK_NETWORKS")

# The number of trusted reverse proxies in front of the web server. 0: X-Forwarded-For
# and X-Forwarded-Proto are ignored, because any client could forge them.
TORRES_PROXIES = env.int("TORRES_PROXIES", default=0)
if TORRES_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

TORRES_RATE_TOKEN = env.int("TORRES_RATE_TOKEN", default=2000)
TORRES_RATE_USER = env.int("TORRES_RATE_USER", default=3000)
TORRES_RATE_ANONYMOUS = env.int("TORRES_RATE_ANONYMOUS", default=1200)
TORRES_RATES = {
    "sign-in": env.int("TORRES_RATE_SIGN_IN", default=20),
    "sign-up": env.int("TORRES_RATE_SIGN_UP", default=10),
    "upload": env.int("TORRES_RATE_UPLOAD", default=60),
    "practice": env.int("TORRES_RATE_PRACTICE", default=300),
    "webhook": env.int("TORRES_RATE_WEBHOOK", default=30),
    "page": env.int("TORRES_RATE_PAGES", default=1200),
    "replay": env.int("TORRES_RATE_REPLAYS", default=60),
}
TORRES_RATE_CPU_SECONDS = env.int("TORRES_RATE_CPU_SECONDS", default=30)
TORRES_ORGANISER_LIMIT_FACTOR = env.int("TORRES_ORGANISER_LIMIT_FACTOR", default=10)
TORRES_MAX_STREAMS = env.int("TORRES_MAX_STREAMS", default=4000)
TORRES_MAX_STREAMS_PER_ADDRESS = env.int("TORRES_MAX_STREAMS_PER_ADDRESS", default=400)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ladder.accounts.authentication.TokenAuthentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticatedOrReadOnly"
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "ladder.web.api.parsers.JSONParser",
        "ladder.web.api.parsers.UploadParser",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["ladder.web.api.throttles.PerMinute"],
    "DEFAULT_PAGINATION_CLASS": "ladder.web.api.pagination.Cursor",
    "DEFAULT_FILTER_BACKENDS": ["ladder.web.api.filters.StrictFilters"],
    "DEFAULT_SCHEMA_CLASS": "ladder.web.api.schema.Schema",
    "EXCEPTION_HANDLER": "ladder.web.api.problems.handler",
    "URL_FORMAT_OVERRIDE": None,
    # How many entries of X-Forwarded-For are trusted for the client's address.
    "NUM_PROXIES": TORRES_PROXIES,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Torres ladder",
    "DESCRIPTION": (
        "Bots play the board game Torres. Reading is public; writing needs a token."
    ),
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "ENFORCE_NON_BLANK_FIELDS": True,
    "ENUM_NAME_OVERRIDES": {
        "BotStatus": "ladder.bots.models.Bot.Status",
        "SubmissionStatus": "ladder.bots.models.Submission.Status",
        "GameStatus": "ladder.games.models.GameStatus",
        "SeasonStatus": "ladder.ratings.models.Season.Status",
        "TournamentStatus": "ladder.tournaments.models.TournamentStatus",
    },
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "APPEND_COMPONENTS": {
        "headers": {
            "RateLimit-Policy": {
                "description": "The limits of the request: q requests in w seconds.",
                "schema": {"type": "string"},
                "example": '"token";q=2000;w=60, "user";q=3000;w=60',
            },
            "RateLimit": {
                "description": "Of each limit, r requests are left for t seconds.",
                "schema": {"type": "string"},
                "example": '"token";r=1999;t=60, "user";r=2997;t=42',
            },
        }
    },
}

# The least time limit of a whole game, in seconds. It is three times the thinking time
# that the limits of its match allow, if that is more. The clock of a bot that does not
# answer ends its game much sooner.
TORRES_MAX_GAME_SECONDS = env.int("TORRES_MAX_GAME_SECONDS", default=900)
# After this many seconds without a heartbeat a game is taken away from its worker. All
# other timeouts for workers and messages are multiples of this lease.
TORRES_LEASE_SECONDS = env.float("TORRES_LEASE_SECONDS", default=30.0)

TORRES_COSTLY_HOUSE_BOTS = env.bool("TORRES_COSTLY_HOUSE_BOTS", default=False)

# The share of the slots that ladders keep while they have games to play: tournaments
# and comparisons use the others, and what ladders leave (`games.shares`).
TORRES_LADDER_SHARE = env.float("TORRES_LADDER_SHARE", default=0.5)

# The games a day by which the metric torres_slots_wanted counts the bots of ladders.
TORRES_GAMES_PER_BOT_AND_DAY = env.float("TORRES_GAMES_PER_BOT_AND_DAY", default=100.0)

TORRES_COMPARISON_SLOTS = env.int("TORRES_COMPARISON_SLOTS", default=0)

TORRES_PRACTICE_SLOTS = env.int("TORRES_PRACTICE_SLOTS", default=3)
TORRES_PRACTICE_PER_HOUR = env.int("TORRES_PRACTICE_PER_HOUR", default=20)
TORRES_GUEST_GAMES = env.int("TORRES_GUEST_GAMES", default=10)
TORRES_GUEST_GAMES_PER_HOUR = env.int("TORRES_GUEST_GAMES_PER_HOUR", default=10)

TORRES_TRIALS_PER_HOUR = env.int("TORRES_TRIALS_PER_HOUR", default=30)

TORRES_SPOT_CHECKS = env.float("TORRES_SPOT_CHECKS", default=0.01)

TORRES_ANALYSES_PER_DAY = env.int("TORRES_ANALYSES_PER_DAY", default=20)
TORRES_STORY_SHARE = env.float("TORRES_STORY_SHARE", default=0.05)
TORRES_PRACTICE_MOVE_SECONDS = env.float("TORRES_PRACTICE_MOVE_SECONDS", default=60.0)
TORRES_PRACTICE_BANK_SECONDS = env.float("TORRES_PRACTICE_BANK_SECONDS", default=600.0)

# Celery only carries hints that there is work: every task may be lost, late or
# duplicated. The effect of each setting during an outage was measured.
CELERY_BROKER_URL = env.str("BROKER_URL", default="memory://")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "play"
# Repeated hints have a queue of their own ("again"), so that they do not wait behind
# the first ones.
CELERY_TASK_QUEUES: dict[str, dict[str, str]] = {
    name: {} for name in ("play", "tournament", "again", "build")
}
CELERY_TASK_ROUTES = {
    "bots.*": {"queue": "build"},
    "spot_checks.*": {"queue": "build"},
}
# These are Celery's defaults. Celery looks them up for every message and, if one is
# unset, tries all its historical names. Setting them saves 20 % of the cost of sending.
CELERY_TASK_ALWAYS_EAGER = False
CELERY_TASK_SEND_SENT_EVENT = False
CELERY_TASK_REPR_MAXLEVELS = 3
CELERY_BROKER_POOL_ACQUIRE_TIMEOUT = None
CELERY_WORKER_POOL = "threads"
# A worker fetches a message only if it has a free slot. Redis counts the messages that
# were not acknowledged, too, and an acknowledgement that fails while Redis hangs would
# count for ever: such a worker would have lost a slot. So that count has no limit.
CELERY_WORKER_DISABLE_PREFETCH = not CELERY_BROKER_URL.startswith("memory")
CELERY_WORKER_PREFETCH_MULTIPLIER = 0 if CELERY_WORKER_DISABLE_PREFETCH else 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# `celery inspect` and Flower ask workers through the broker. The broker of one process
# has nobody who asks.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = not CELERY_BROKER_URL.startswith("memory")
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# True would cancel a running game and leave its message unacknowledged.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
# The seconds that a stopping worker waits for its games before it releases them. This
# needs REMAP_SIGTERM=SIGQUIT, and must be less than the supervisor's stop timeout.
TORRES_GRACE_SECONDS = env.float("TORRES_GRACE_SECONDS", default=20.0)
if not CELERY_BROKER_URL.startswith("memory"):
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 4 * TORRES_MAX_GAME_SECONDS,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": 10,
        "socket_connect_timeout": 3,
        "socket_keepalive": True,
        "health_check_interval": 5,
    }

# Requests that fail are logged by `ladder.web.middleware.failures`, all other records
# of libraries from WARNING on by `ladder.common.logs`.
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {
        "failures": {"class": "ladder.web.middleware.failures.FailureHandler"},
        "lines": {"class": "ladder.common.logs.LogLines"},
    },
    "root": {"handlers": ["lines"], "level": "WARNING"},
    "loggers": {
        "django.request": {
            "handlers": ["failures"],
            "level": "ERROR",
            "propagate": False,
        },
        # Otherwise Django mails errors to administrators and prints them as text.
        "django": {"handlers": [], "level": "WARNING"},
        "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
        # It warns again and again that the in-memory broker has no host.
        "kombu.connection": {"level": "ERROR"},
        # It warns of each request that is no HTTP.
        "uvicorn.error": {"level": "ERROR"},
        # They warn of each try to reach a collector, `ladder.common.trace_export` once
        # a minute.
        "opentelemetry.exporter": {"level": "CRITICAL"},
        "opentelemetry.sdk._shared_internal": {"level": "CRITICAL"},
    },
}
if TORRES_WORKER:
    for name in (
        *("SECRET_KEY", "TORRES_LOG_KEY", "TORRES_METRICS_TOKEN", "TORRES_EMAIL_URL"),
        *("TORRES_GITHUB_SECRET", "TORRES_ALARM_URL", "TORRES_WORKER_PASSWORD"),
    ):
        env.refuse_secret(name)
    if not IS_POSTGRESQL:
        env.refuse("TORRES_WORKER needs DATABASE_URL with a role of PostgreSQL.")
else:
    if bool(TORRES_GITHUB_CLIENT) != bool(TORRES_GITHUB_SECRET):
        env.refuse(
            "Only one of TORRES_GITHUB_CLIENT and TORRES_GITHUB_SECRET is set. Set both"
            " to the values of your OAuth app, or leave out both."
        )
    if TORRES_SENDS_MAIL and not DEFAULT_FROM_EMAIL:
        env.refuse(
            "TORRES_EMAIL_FROM is missing. Set it to the address that sends the mail of"
            " the service, for example ladder@example.org."
        )
    if TORRES_ALARM_MAIL and not TORRES_SENDS_MAIL:
        env.refuse(
            "TORRES_ALARM_MAIL is set, but the service sends no mail. Set"
            " TORRES_EMAIL_URL and TORRES_EMAIL_FROM, too."
        )
# The last variable was read. The files are made only for a service that starts.
env.refuse_mistakes()
if not IS_POSTGRESQL:
    SECRET_KEY = private_files.prepare_data_folder(
        DATA_DIR, Path(DATABASES["default"]["NAME"]), SECRET_KEY
    )
logs.log_failures_of_threads()
# Log one JSON line per event to stderr, without waiting for its reader. The commands
# print their results to stdout.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        logs.hide_secrets,
        structlog.processors.JSONRenderer(),
    ],
    logger_factory=structlog.WriteLoggerFactory(PatientOutput(sys.stderr)),  # type: ignore[arg-type]
)
