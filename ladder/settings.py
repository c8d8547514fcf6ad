"""Django settings: working defaults for a laptop, everything else from the environment.

There is no second settings file. Embedded (SQLite, in-memory broker) and production
(PostgreSQL, Redis) differ only in DATABASE_URL and BROKER_URL.
"""

import sys
from pathlib import Path

import django_stubs_ext
import environ
import structlog

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()

DATA_DIR = Path(env.str("TORRES_DATA", default=str(BASE_DIR / ".data"))).resolve()

SECRET_KEY = env.str("SECRET_KEY", default="insecure-for-a-laptop-only")
DEBUG = env.bool("DEBUG", default=False)
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])

INSTALLED_APPS = [
    "django.contrib.admin",
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
    "ladder.bots",
    "ladder.games",
    "ladder.moderation",
    "ladder.ratings",
    "ladder.tournaments",
    "ladder.web",
    "ladder.ops",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "ladder.web.middleware.ContentSecurityPolicy",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "ladder.web.middleware.SharedAnswers",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
ROOT_URLCONF = "ladder.urls"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# IMMEDIATE: a read that turns into a write would else fail at once with "database is
# locked", whatever the timeout. So every atomic block is a writer: keep them short.
SQLITE_OPTIONS = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA foreign_keys=ON;"
    ),
}
# PostgreSQL itself, where DATABASE_URL leads to a pooler that gives each transaction
# another session (PgBouncer).
DATABASE_DIRECT_URL = env("DATABASE_DIRECT_URL", default="")
# tcp_user_timeout makes a query fail inside an outage instead of hanging for minutes;
# the tasks survive that.
# The options are the server's side of the same: else a session whose host was cut off
# holds its locks, the dispatcher's too, until the server's TCP gives up after hours.
# PgBouncer has to be told to ignore them (ignore_startup_parameters = options).
# One pool a process: processes x max_size has to stay below max_connections. A game
# gives its connection back while its bots think.
# The statements of the hot path are prepared, not so behind a pooler, if it is not said
# that it keeps them: PgBouncer does from 1.22 on, with max_prepared_statements.
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
DATABASES = {
    "default": env.db("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'ladder.db'}")
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    DATABASES["default"].setdefault("OPTIONS", {}).update(SQLITE_OPTIONS)
    # A file in the tests, too: threads and processes must see the same rows.
    DATABASES["default"]["TEST"] = {"NAME": str(DATA_DIR / "test.db")}
else:
    DATABASES["default"].setdefault("OPTIONS", {}).update(POSTGRES_OPTIONS)
    # A cursor of the server's would be looked for in another session.
    DATABASES["default"]["DISABLE_SERVER_SIDE_CURSORS"] = bool(DATABASE_DIRECT_URL)
    # Asked before use, so that a restarted server costs nobody a failed query.
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
# Served by whitenoise from where the apps keep them; collected only in production.
STATIC_ROOT = env.str("TORRES_STATIC", default=None)
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # The uploads, private: no address serves them. A shared volume or S3 in production.
    "bots": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": DATA_DIR / "submissions"},
    },
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
WHITENOISE_USE_FINDERS = STATIC_ROOT is None
CACHES = {"default": env.cache("CACHE_URL", default="locmemcache://")}
if CACHES["default"]["BACKEND"].endswith("LocMemCache"):
    # With the default of 300 it forgets how often somebody has tried to sign in.
    CACHES["default"]["OPTIONS"] = {"MAX_ENTRIES": 20_000}
# A page that anybody reads may be so old; 0: each is made anew for each reader.
TORRES_FRESH_SECONDS = env.float("TORRES_FRESH_SECONDS", default=2.0)
CACHES["pages"] = {
    "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
    "LOCATION": "pages",
    "OPTIONS": {"MAX_ENTRIES": 300},
}

# The doors: accounts, sessions, headers.
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "ladder.accounts.authentication.TokenBackend",
]
LOGIN_URL = "/sign-in/"
LOGIN_REDIRECT_URL = "/me/"
LOGOUT_REDIRECT_URL = "/"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.bool("TORRES_HTTPS", default=False)
SECURE_SSL_REDIRECT = False  # the proxy's work
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "ladder.web.problems.csrf_failed"
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100
DATA_UPLOAD_MAX_NUMBER_FILES = 4

# What holds uploaded bots: full, reduced or none. Below it they wait.
TORRES_SANDBOX = env.str("TORRES_SANDBOX", default="full")

# Of unpacked bots, and again of what was built, a worker keeps so many MiB.
TORRES_CACHE_MB = env.int("TORRES_CACHE_MB", default=4096)

# What one person may ask and keep.
TORRES_UPLOAD_BYTES = env.int("TORRES_UPLOAD_BYTES", default=64 << 20)
TORRES_BOTS_PER_OWNER = env.int("TORRES_BOTS_PER_OWNER", default=50)
TORRES_UPLOADS_PER_HOUR = env.int("TORRES_UPLOADS_PER_HOUR", default=60)
TORRES_BYTES_PER_OWNER = env.int("TORRES_BYTES_PER_OWNER", default=1 << 30)
TORRES_PROXIES = env.int("TORRES_PROXIES", default=0)
if TORRES_PROXIES:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
TORRES_RATE_USER = env.int("TORRES_RATE_USER", default=3000)  # requests a minute
TORRES_RATES = {
    "sign-in": env.int("TORRES_RATE_SIGN_IN", default=20),
    "upload": env.int("TORRES_RATE_UPLOAD", default=60),
}
TORRES_RATE_ANONYMOUS = env.int("TORRES_RATE_ANONYMOUS", default=1200)

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "ladder.accounts.authentication.TokenAuthentication"
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticatedOrReadOnly"
    ],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": [
        "ladder.web.parsers.JSONParser",
        "ladder.web.parsers.UploadParser",
    ],
    "DEFAULT_THROTTLE_CLASSES": ["ladder.web.throttles.PerMinute"],
    "DEFAULT_PAGINATION_CLASS": "ladder.web.pagination.Cursor",
    "DEFAULT_FILTER_BACKENDS": ["ladder.web.filters.StrictFilters"],
    "DEFAULT_SCHEMA_CLASS": "ladder.web.schema.Schema",
    "EXCEPTION_HANDLER": "ladder.web.problems.handler",
    "URL_FORMAT_OVERRIDE": None,
    # Whom to believe about a client's address: nobody, if there is no proxy of ours.
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
}

# How long one game may take at all; a bot that thinks for ever its clock stops sooner.
TORRES_MAX_GAME_SECONDS = env.int("TORRES_MAX_GAME_SECONDS", default=900)
# How long a game stays with a worker that is not heard; everything else that waits for
# a worker or a message is measured in it.
TORRES_LEASE_SECONDS = env.float("TORRES_LEASE_SECONDS", default=30.0)

# Celery only says that there is work: every task may be lost, late or doubled. What
# each setting does in an outage was measured.
CELERY_BROKER_URL = env.str("BROKER_URL", default="memory://")
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "play"
# Hints that are sent again have their own queue: they must not wait behind the others.
CELERY_TASK_QUEUES: dict[str, dict[str, str]] = {
    name: {} for name in ("play", "tournament", "again", "build", "service")
}
CELERY_TASK_ROUTES = {"ratings.*": {"queue": "service"}, "bots.*": {"queue": "build"}}
# The defaults. It asks for them with each message, and what is not said here it seeks
# under every name that it ever had: a fifth of what a message costs.
CELERY_TASK_ALWAYS_EAGER = False
CELERY_TASK_SEND_SENT_EVENT = False
CELERY_TASK_REPR_MAXLEVELS = 3
CELERY_BROKER_POOL_ACQUIRE_TIMEOUT = None
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# Would cancel a running game and leave its message unacknowledged.
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
# With REMAP_SIGTERM=SIGQUIT, and below the supervisor's own patience.
CELERY_WORKER_SOFT_SHUTDOWN_TIMEOUT = env.float("TORRES_GRACE_SECONDS", default=20.0)
if CELERY_BROKER_URL.startswith("memory"):
    # The default interval makes 8 tasks a second of it.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"polling_interval": 0.02}
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": 4 * TORRES_MAX_GAME_SECONDS,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_timeout": 10,
        "socket_connect_timeout": 3,
        "socket_keepalive": True,
        "health_check_interval": 5,
    }

# One line an event, on stderr: stdout belongs to the commands.
structlog.configure(
    processors=[
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(),
    ],
    logger_factory=structlog.PrintLoggerFactory(sys.stderr),
)
