"""The environment variables of the service: read, checked, and refused all at once.

`ladder.settings` reads each variable through an `Environment`, which collects all
mistakes. `refuse_mistakes` then ends the start of every process with all mistakes, and
it refuses names with TORRES_ that no setting reads, because a mistyped name would have
no effect without a word. A setting is known because the settings read it: a new one
needs no entry here, unless its values have closer bounds than DEFAULT_BOUNDS.
"""

import builtins
import difflib
import ipaddress
import math
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.validators import validate_email

from ladder.common import object_store
from torres.common.quoting import quoted

PREFIX = "TORRES_"

# Names that other parts read than the settings of the service.
WORKER_NAMES = ("TORRES_SLOT_UIDS", "TORRES_RUN_DIR", "TORRES_PROBE")  # the sandbox
ENGINE_NAMES = ("TORRES_PURE",)
HOME_NAMES = ("TORRES_LADDER", "TORRES_TOKEN")  # the command `torres`
BUILD_NAMES = ("TORRES_REQUIRE_SAFE_PYTHON",)  # deploy/Dockerfile
OTHER_NAMES = frozenset((*WORKER_NAMES, *ENGINE_NAMES, *HOME_NAMES, *BUILD_NAMES))
# Kubernetes and Docker give each container the addresses of the services beside it, for
# example TORRES_WEB_PORT for a service with the name torres-web.
SERVICE_LINK = re.compile(
    PREFIX + r"\w+_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)"
)

Bounds = tuple[float, float]
Default = TypeVar("Default", builtins.str, None)
DEFAULT_BOUNDS: Bounds = (0, 10**15)
MAX_DAYS = 36_500
DAY_S = 24 * 3600
BOUNDS: Mapping[str, Bounds] = {
    "DB_POOL": (1, 10_000),
    "TORRES_ANALYSES_PER_DAY": (0, 100_000),
    "TORRES_CACHE_MB": (1, 10**9),
    "TORRES_COMPARISON_SLOTS": (0, 100_000),
    "TORRES_FRESH_SECONDS": (0, 3600),
    "TORRES_GAMES_PER_BOT_AND_DAY": (0, 10**6),
    "TORRES_GRACE_SECONDS": (0, DAY_S),
    "TORRES_KEEP_ANALYSES_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_ANSWERS_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_EVENTS_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_EXPIRED_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_LOGS_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_GUEST_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_PRACTICE_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_REJECTED_DAYS": (0, MAX_DAYS),
    "TORRES_KEEP_SCRATCH_HOURS": (0, 24 * MAX_DAYS),
    "TORRES_KEEP_WORKERS_DAYS": (0, MAX_DAYS),
    "TORRES_LADDER_SHARE": (0, 0.9),
    "TORRES_LEASE_SECONDS": (1, 3600),
    "TORRES_LOCK_SECONDS": (0, DAY_S),
    "TORRES_ORGANISER_LIMIT_FACTOR": (1, 1000),
    "TORRES_MATCH_HOURS": (0.1, 24 * MAX_DAYS),
    "TORRES_MAX_GAME_SECONDS": (1, 30 * DAY_S),
    "TORRES_PRACTICE_BANK_SECONDS": (0, 30 * DAY_S),
    "TORRES_PRACTICE_MOVE_SECONDS": (1, 30 * DAY_S),
    "TORRES_PRACTICE_SLOTS": (0, 10_000),
    "TORRES_PROXIES": (0, 16),
    "TORRES_SPOT_CHECKS": (0, 1),
    "TORRES_STATEMENT_SECONDS": (0, DAY_S),
    "TORRES_STORY_SHARE": (0, 1),
    "TORRES_UPLOAD_BYTES": (1, 1 << 40),
}
"""The least and the greatest value of numbers with closer bounds."""
CHOICES: Mapping[str, tuple[str, ...]] = {
    "OTEL_EXPORTER_OTLP_PROTOCOL": ("http/protobuf",),
    "OTEL_TRACES_EXPORTER": ("otlp", "none"),
    "TORRES_SANDBOX": ("isolated", "full", "reduced", "none"),
    "TORRES_SIGN_UP": ("open", "invitation", "closed"),
}
SCHEMES: Mapping[str, tuple[str, ...]] = {
    "BROKER_URL": ("redis", "rediss", "memory"),
    "DATABASE_DIRECT_URL": ("postgres", "postgresql"),
    "DATABASE_URL": ("postgres", "postgresql", "sqlite"),
}
ADDRESSES: Mapping[str, tuple[str, ...]] = {
    "TORRES_ALARM_URL": ("https", "http"),
    "TORRES_GITHUB_URL": ("https",),
    "TORRES_MONITOR_WEB": ("https", "http"),
}
"""The schemes of variables that name servers. A message never quotes an address: that
of a chat service is a secret."""
MAILBOXES = ("TORRES_ALARM_MAIL", "TORRES_EMAIL_FROM")
TOKENS = ("TORRES_METRICS_TOKEN",)
SAFE_TOKEN = re.compile(r"[!-~]{16,}")
"""A token that cannot be guessed, and that a header can hold."""
TRACE_PACKAGES = (
    "opentelemetry",
    "opentelemetry.sdk",
    "opentelemetry.exporter.otlp.proto",
)
TRUE = ("1", "true", "yes", "on", "y", "ok")
FALSE = ("0", "false", "no", "off", "n")


class Environment:
    """Reads variables, and collects what is wrong with them.

    A variable with a mistake has its default until `refuse_mistakes` is called. An
    empty variable is a mistake if its default is not empty: it is often one that a
    deployment forgot to fill. Values of URLs are not quoted, because they may contain
    passwords.
    """

    def __init__(self, variables: Mapping[builtins.str, builtins.str]) -> None:
        self._variables = variables
        self._known: set[builtins.str] = set(OTHER_NAMES)
        self._mistakes: builtins.list[builtins.str] = []

    def str(self, name: builtins.str, default: Default) -> builtins.str | Default:
        """Return a text, or the default, which may also be None."""
        text = self._text(name)
        if text is None:
            return default
        if mistake := _mistake(name, text, is_empty_right=default == ""):
            self._refuse(mistake, name)
            return default
        return text

    def int(self, name: builtins.str, default: builtins.int) -> builtins.int:
        """Return a whole number inside its bounds."""
        return builtins.int(self._number(name, default, whole=True))

    def float(self, name: builtins.str, default: builtins.float) -> builtins.float:
        """Return a number inside its bounds."""
        return self._number(name, default, whole=False)

    def bool(self, name: builtins.str, *, default: builtins.bool) -> builtins.bool:
        """Return a switch. A mistyped `true` must not mean false."""
        text = self._text(name)
        if text is None:
            return default
        word = text.strip().lower()
        if word not in (*TRUE, *FALSE):
            self._refuse(f"{name} is {quoted(text)}. Set it to 1 or 0", name)
            return default
        return word in TRUE

    def list(
        self, name: builtins.str, default: Sequence[builtins.str]
    ) -> builtins.list[builtins.str]:
        """Return the words between commas."""
        text = self._text(name)
        if text is None:
            return [*default]
        words = [word.strip() for word in text.split(",") if word.strip()]
        if default and not words:
            self._refuse(f"{name} is empty. Give it a value", name)
        for word in words:
            if mistake := _mistake(name, word, is_empty_right=False):
                self._refuse(mistake, name)
                return [*default]
        return words or [*default]

    def networks(self, name: builtins.str) -> builtins.list[builtins.str]:
        """Return the networks between commas, such as 10.1.0.0/16."""
        networks = []
        for word in self.list(name, default=[]):
            try:
                networks.append(builtins.str(ipaddress.ip_network(word)))
            except ValueError:
                example = "Write networks such as 10.1.0.0/16"
                self._refuse(f"{name} contains {quoted(word)}. {example}", name)
        return networks

    def db(self, name: builtins.str, default: builtins.str) -> dict[builtins.str, Any]:
        """Return Django's settings of the database with a URL."""
        return self._parsed(name, default, environ.Env.db_url_config)

    def cache(
        self, name: builtins.str, default: builtins.str
    ) -> dict[builtins.str, Any]:
        """Return Django's settings of the cache with a URL."""
        return self._parsed(name, default, environ.Env.cache_url_config)

    def email(self, name: builtins.str) -> dict[builtins.str, Any]:
        """Return Django's settings of the mail server with a URL; unset, of none."""
        return self._parsed(name, "", _mail_settings)

    def storage(self, name: builtins.str, default: Path) -> dict[builtins.str, Any]:
        """Return Django's settings of a bucket with a URL; unset, of this folder."""
        if url := self.str(name, ""):
            try:
                return object_store.storage_settings(url)
            except ValueError as error:
                self._refuse(f"{name} {error}", name)
        return {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": default},
        }

    def collector(self, name: builtins.str) -> builtins.str:
        """Return the address of a collector of traces; unset, an empty text."""
        address = self.str(name, "")
        if address and (mistake := _collector_mistake(address)):
            self._refuse(f"{name} {mistake}", name)
            return ""
        return address

    def refuse(self, mistake: builtins.str) -> None:
        """Remember a mistake that the caller has found. It says what to do."""
        self._mistakes.append(mistake)

    def refuse_secret(self, name: builtins.str) -> None:
        """Refuse a variable that must not be where bots could read it."""
        if self._variables.get(name):
            self.refuse(
                f"{name} must not be known to a worker, because a bot that escapes from"
                f" its sandbox could read it. Remove {name} from the environment of the"
                " worker, or TORRES_WORKER if this is no worker."
            )

    def refuse_mistakes(self) -> None:
        """Raise ImproperlyConfigured with every mistake, and with unknown names.

        Call it after the last variable was read, because that makes them known.
        """
        unknown = [
            self._unknown(name)
            for name in sorted(self._variables)
            if name.startswith(PREFIX)
            and name not in self._known
            and not SERVICE_LINK.fullmatch(name)
        ]
        if mistakes := [*self._mistakes, *unknown]:
            raise ImproperlyConfigured("\n".join(mistakes))

    def _text(self, name: builtins.str) -> builtins.str | None:
        self._known.add(name)
        return self._variables.get(name)

    def _refuse(self, mistake: builtins.str, name: builtins.str) -> None:
        self._mistakes.append(f"{mistake}, or remove {name} for its default.")

    def _number(
        self, name: builtins.str, default: builtins.float, *, whole: builtins.bool
    ) -> builtins.float:
        text = self._text(name)
        if text is None:
            return default
        least, most = BOUNDS.get(name, DEFAULT_BOUNDS)
        value = _parse(text, whole=whole)
        if value is None or not least <= value <= most:
            kind = "a whole number" if whole else "a number"
            self._refuse(
                f"{name} is {quoted(text)}. Set it to {kind} from {least:.16g} to"
                f" {most:.16g}",
                name,
            )
            return default
        return value

    def _parsed(
        self,
        name: builtins.str,
        default: builtins.str,
        parse: Callable[[builtins.str], dict[builtins.str, Any]],
    ) -> dict[builtins.str, Any]:
        url = self.str(name, default)
        try:
            return parse(url)
        except (ValueError, KeyError, ImproperlyConfigured):
            self._refuse(
                f"{name} is no URL that the service can use. Correct it as in the"
                " examples of docs/operating.md",
                name,
            )
            return parse(default)

    def _unknown(self, name: builtins.str) -> builtins.str:
        """Say that nobody reads a name, and which one was probably meant."""
        close = difflib.get_close_matches(name, sorted(self._known), n=1, cutoff=0.8)
        if close:
            return f"{name} is not a setting. Did you mean {close[0]}?"
        return (
            f"{name} is not a setting. Remove it; docs/operating.md lists the settings."
        )


def _parse(text: builtins.str, *, whole: builtins.bool) -> builtins.float | None:
    """Return the number that a text is; None if it is none, or infinite."""
    if not re.fullmatch(r"\s*[0-9.eE+-]{1,30}\s*", text):
        return None
    try:
        value = builtins.int(text) if whole else builtins.float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _mistake(
    name: builtins.str, text: builtins.str, *, is_empty_right: builtins.bool
) -> builtins.str:
    """Return what is wrong with a text; empty if nothing is."""
    if name in CHOICES and text not in CHOICES[name]:
        return f"{name} is {quoted(text)}. Set it to {', '.join(CHOICES[name])}"
    if not text:
        return "" if is_empty_right else f"{name} is empty. Give it a value"
    schemes = SCHEMES.get(name, ())
    if schemes and text.partition(":")[0] not in schemes:
        examples = " or ".join(f"{scheme}://" for scheme in schemes)
        return f"{name} is the URL of an unknown kind of server. Use {examples}"
    return _mistake_of_form(name, text)


def _mistake_of_form(name: builtins.str, text: builtins.str) -> builtins.str:
    if name in ADDRESSES and not _is_address(text, ADDRESSES[name]):
        example = f"{ADDRESSES[name][0]}://server.example.org"
        return f"{name} is no address of a server. Write one such as {example}"
    if name in MAILBOXES and not _is_mailbox(text):
        return (
            f"{name} contains {quoted(text)}, which is no address of e-mail. Write one"
            " such as ops@example.org"
        )
    if name in TOKENS and not SAFE_TOKEN.fullmatch(text):
        return (
            f"{name} can be guessed, or no header can hold it. Use 16 or more random"
            " letters and digits, for example the output of `openssl rand -hex 24`"
        )
    return ""


def _is_address(text: builtins.str, schemes: Sequence[builtins.str]) -> builtins.bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in schemes and bool(parts.hostname)
    except ValueError:
        return False


def _is_mailbox(text: builtins.str) -> builtins.bool:
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def _mail_settings(url: builtins.str) -> dict[builtins.str, Any]:
    settings: dict[builtins.str, Any] = environ.Env.email_url_config(
        url or "dummymail://"
    )
    return settings


def _collector_mistake(endpoint: str) -> str:
    """Return why no traces can be sent to the address of a collector; "" if they can.

    The SDK of OpenTelemetry reads it itself. With a wrong address, or without the
    packages, a service would send no traces and not say why. The answer does not
    contain the address, which may hold a password.
    """
    if not _is_address(endpoint, ("http", "https")):
        return "is no address of HTTP. Write one such as http://127.0.0.1:4318"
    if not _is_installed():
        return "needs packages. Install them: pip install 'torres-ladder[otel]'"
    return ""


def _is_installed() -> bool:
    try:
        return all(find_spec(name) is not None for name in TRACE_PACKAGES)
    except ModuleNotFoundError:  # a package that contains another one is missing
        return False
