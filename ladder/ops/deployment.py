"""Checks of `manage.py check --deploy`, for a service that strangers use.

They look at the settings and, as far as they can be reached, at the servers behind
them. Unlike the checks at every start, they may take seconds, and a laptop fails them.
"""

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning as CheckWarning
from django.core.exceptions import ImproperlyConfigured
from django.core.files.storage import FileSystemStorage, storages
from django.db import Error as DatabaseError, connection

from ladder.common import object_store, publishing
from torres.common.errors import LadderError

TAG = "deployment"
PLACEHOLDER = "CHANGE"  # deploy/example.env
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]"})
MIN_POSTGRESQL = 150_000
UPLOADS_TRIED = 20


def check_https(**_: object) -> Iterator[CheckMessage]:
    """Warn of passwords that travel without TLS, and of a proxy that is half set."""
    if not settings.SESSION_COOKIE_SECURE:
        yield CheckWarning(
            "Browsers send passwords and sessions without HTTPS.",
            hint="Let a proxy terminate HTTPS (deploy/nginx.conf), and set"
            " TORRES_HTTPS=1.",
            id="deployment.W001",
        )
    elif not settings.TORRES_PROXIES:
        yield CheckWarning(
            "TORRES_HTTPS is set, but TORRES_PROXIES is 0: the web server itself does"
            " not speak HTTPS, and it ignores what a proxy says about the visitor.",
            hint="Set TORRES_PROXIES to the number of proxies in front of it.",
            id="deployment.W002",
        )
    secure = [each for each in settings.CSRF_TRUSTED_ORIGINS if "https://" in each]
    if settings.SESSION_COOKIE_SECURE and not secure:
        yield CheckWarning(
            "No address with https is trusted, so forms may be refused.",
            hint="Set CSRF_TRUSTED_ORIGINS to the address of the service, for example"
            " https://ladder.example.org.",
            id="deployment.W003",
        )
    if set(settings.ALLOWED_HOSTS) <= LOCAL_HOSTS or "*" in settings.ALLOWED_HOSTS:
        yield CheckWarning(
            f"ALLOWED_HOSTS is {','.join(settings.ALLOWED_HOSTS)}.",
            hint="Set it to the names under which visitors reach the service. With *"
            " links in mail could lead to any other server.",
            id="deployment.W004",
        )


def check_secrets(**_: object) -> Iterator[CheckMessage]:
    """Refuse the secrets of the example, which everybody can read."""
    secrets = {
        "SECRET_KEY": settings.SECRET_KEY,
        "DATABASE_URL": settings.DATABASES["default"].get("PASSWORD", ""),
        "TORRES_METRICS_TOKEN": settings.TORRES_METRICS_TOKEN,
        "TORRES_ALARM_URL": settings.TORRES_ALARM_URL,
        "TORRES_EMAIL_URL": settings.EMAIL_HOST_PASSWORD or "",
        "TORRES_GITHUB_SECRET": settings.TORRES_GITHUB_SECRET,
    }
    for name, secret in secrets.items():
        if PLACEHOLDER in secret:
            yield Error(
                f"{name} has the secret of deploy/example.env, which everybody can"
                " read.",
                hint="Replace it, for example by the output of `openssl rand -hex 32`.",
                id="deployment.E001",
            )


def check_database(**_: object) -> Iterator[CheckMessage]:
    """Refuse a server that is away or too old."""
    if not settings.IS_POSTGRESQL:
        return
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            version = int(cursor.fetchone()[0])
    except (DatabaseError, ImproperlyConfigured):
        yield Error(
            "The database does not answer.",
            hint="Start it, or correct DATABASE_URL.",
            id="deployment.E002",
        )
        return
    if version < MIN_POSTGRESQL:
        yield Error(
            f"PostgreSQL has the version {version // 10_000}.",
            hint="Upgrade it to 15 or newer.",
            id="deployment.E003",
        )


def check_storage(**_: object) -> Iterator[CheckMessage]:
    """Look for the uploads that the database lists: all hosts must see them."""
    storage = storages["bots"]
    checkout_data = Path(settings.BASE_DIR) / ".data"
    is_local = isinstance(storage, FileSystemStorage)
    if settings.IS_POSTGRESQL and is_local and checkout_data == settings.DATA_DIR:
        yield CheckWarning(
            "Uploads are stored in the folder of the source code, which other hosts do"
            " not see.",
            hint="Set TORRES_DATA to a folder that all web servers and workers share.",
            id="deployment.W005",
        )
    if not is_local and (problem := object_store.problem_of(storage)):
        yield Error(
            f"The object store refuses the bucket of TORRES_UPLOADS: {problem}",
            hint="Make the bucket, and correct the endpoint or the keys of AWS.",
            id="deployment.E007",
        )
        return
    try:
        # Named and not imported, because checks are registered before the models.
        ready = apps.get_model("bots", "Submission").objects.filter(status="ready")
        names = [row.package for row in ready.order_by("-pk")[:UPLOADS_TRIED]]
    except (DatabaseError, ImproperlyConfigured):
        return  # `check_database` reports it; SQLite has no tables before `prepare`
    lost = [name for name in names if not storage.exists(name)]
    if lost:
        yield Error(
            f"Of the newest {len(names)} submissions {len(lost)} have no file on this"
            " host.",
            hint=f"{'TORRES_DATA' if is_local else 'TORRES_UPLOADS'} must be the same"
            " shared place on all hosts. If it is, restore the files from a backup.",
            id="deployment.E004",
        )


def check_log_key(**_: object) -> Iterator[CheckMessage]:
    """Compare the key of the public log on this host with the key in the database."""
    # Named and not imported, because checks are registered before the models.
    keys = import_module("ladder.public_log.keys")
    try:
        keys.find_key()
    except LadderError as refused:
        if keys.key_path().exists():
            yield Error(
                "A dispatcher on this host could not lead: its key is not the key of"
                " the public log.",
                hint=str(refused),
                id="deployment.E008",
            )
            return
        yield Info(
            "This host does not have the key of the public log, so it can run no"
            " dispatcher.",
            hint=f"Hosts without a dispatcher need no key. {refused}",
            id="deployment.I001",
        )
    except (DatabaseError, ImproperlyConfigured):
        return  # `check_database` reports it


def check_broker(**_: object) -> Iterator[CheckMessage]:
    """Look whether Redis keeps its messages when it restarts or is full."""
    if settings.CELERY_BROKER_URL.startswith("memory"):
        if settings.IS_POSTGRESQL:
            yield Error(
                "BROKER_URL is memory://, which works within one process only.",
                hint="Set BROKER_URL to a Redis that all hosts reach, for example"
                " redis://redis.example.org:6379/0.",
                id="deployment.E006",
            )
        return
    try:
        info = publishing.redis_info()
    except publishing.BROKER_ERRORS:
        yield Error(
            "The message broker does not answer.",
            hint="Start Redis, or correct BROKER_URL.",
            id="deployment.E005",
        )
        return
    if not info.get("aof_enabled"):
        yield CheckWarning(
            "Redis forgets all messages when it restarts; games then wait until the"
            " dispatcher sends them again.",
            hint="Set `appendonly yes` in redis.conf.",
            id="deployment.W006",
        )
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        yield CheckWarning(
            f"Redis deletes messages when its memory is full (maxmemory-policy is"
            f" {policy}).",
            hint="Set `maxmemory-policy noeviction` in redis.conf.",
            id="deployment.W007",
        )


def check_cache(**_: object) -> Iterator[CheckMessage]:
    """Warn of rate limits that each process counts by itself, or beside messages."""
    cache = settings.CACHES["default"]
    if cache.get("LOCATION") == settings.CELERY_BROKER_URL:
        yield CheckWarning(
            "CACHE_URL and BROKER_URL are the same database of Redis, so a cache that"
            " is cleared loses messages.",
            hint="Give CACHE_URL another database number, such as /1.",
            id="deployment.W008",
        )
    elif settings.IS_POSTGRESQL and cache["BACKEND"].endswith("LocMemCache"):
        yield CheckWarning(
            "Each web server counts requests by itself, so two of them permit twice"
            " the rate limits.",
            hint="With more than one web server set CACHE_URL, for example"
            " redis://redis.example.org:6379/1.",
            id="deployment.W009",
        )


def check_sandbox(**_: object) -> Iterator[CheckMessage]:
    """Warn of uploads that run without isolation."""
    if settings.TORRES_SANDBOX == "none":
        yield CheckWarning(
            "Uploaded bots run without a sandbox: they can read and change all that"
            " the workers can.",
            hint="Set TORRES_SANDBOX to full or reduced; `torres doctor` says what a"
            " host needs.",
            id="deployment.W010",
        )


CHECKS = (
    check_https,
    check_secrets,
    check_database,
    check_storage,
    check_log_key,
    check_broker,
    check_cache,
    check_sandbox,
)
