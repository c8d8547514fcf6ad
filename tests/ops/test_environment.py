"""Unknown names and impossible values in the environment are refused at the start."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from ladder.accounts.sign_up_mode import SignUpMode
from ladder.common import environment
from ladder.common.environment import OTHER_NAMES, Environment
from torres.runner.sandbox import LEVELS

ROOT = settings.BASE_DIR
SOURCE = (ROOT / "ladder" / "settings.py").read_text()
READS = re.findall(r'\benv\.(\w+)\(\s*"([A-Z_]+)"', SOURCE)
NUMBERS = [(kind, name) for kind, name in READS if kind in ("int", "float")]
SWITCHES = [name for kind, name in READS if kind == "bool"]
MANAGE = [sys.executable, "manage.py"]
STARTS = {
    "up": [*MANAGE, "up", "--port=0"],
    "web": [*MANAGE, "serve"],
    "dispatcher": [*MANAGE, "schedule"],
    "monitor": [*MANAGE, "monitor"],
    "games by hand": [*MANAGE, "practice"],
    "command": [*MANAGE, "status"],
    "worker": [sys.executable, "-m", "celery", "-A", "ladder.celery", "worker"],
}


def mistakes(**variables: str) -> str:
    """Return what a service with these variables refuses; empty if it starts."""
    env = Environment(variables)
    for kind, name in READS:
        read = getattr(env, kind)
        default = {"int": 1, "float": 1.0, "bool": False, "str": "", "list": []}
        urls = {"db": "sqlite:///x", "cache": "locmemcache://"}
        values = default | urls | {"storage": Path("submissions")}
        read(name, default=values[kind]) if kind in values else read(name)
    try:
        env.refuse_mistakes()
    except ImproperlyConfigured as refusal:
        return str(refusal)
    return ""


@pytest.mark.parametrize(
    ("name", "cure"),
    [
        ("TORRES_PROXYS", "Did you mean TORRES_PROXIES?"),
        ("TORRES_RATE_SIGNIN", "Did you mean TORRES_RATE_SIGN_IN?"),
        ("TORRES_SANBOX", "Did you mean TORRES_SANDBOX?"),
        ("TORRES_KEEP_LOG_DAYS", "Did you mean TORRES_KEEP_LOGS_DAYS?"),
        ("TORRES_SLOT_UID", "Did you mean TORRES_SLOT_UIDS?"),
        ("TORRES_COFFEE", "Remove it; docs/operating.md lists the settings."),
        ("TORRES_", "Remove it; docs/operating.md lists the settings."),
    ],
)
def test_a_mistyped_name_is_refused_with_the_right_one(name: str, cure: str) -> None:
    assert mistakes(**{name: "1"}) == f"{name} is not a setting. {cure}"


@pytest.mark.parametrize("name", sorted(OTHER_NAMES))
def test_names_that_other_parts_read_are_known(name: str) -> None:
    assert mistakes(**{name: "x"}) == ""


@pytest.mark.parametrize(
    "name",
    [
        "TORRES_WEB_PORT",
        "TORRES_WEB_PORT_8000_TCP",
        "TORRES_WEB_PORT_8000_TCP_ADDR",
        "TORRES_WEB_SERVICE_HOST",
        "TORRES_WEB_SERVICE_PORT_HTTP",
    ],
)
def test_the_names_that_kubernetes_adds_for_a_service_are_ignored(name: str) -> None:
    assert mistakes(**{name: "tcp://10.0.0.1:8000"}) == ""


@pytest.mark.parametrize("value", ["many", "", "-1", "nan", "inf", "1e400", "9" * 40])
@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_a_number_that_cannot_be_meant_is_refused(
    kind: str, name: str, value: str
) -> None:
    said = mistakes(**{name: value})
    noun = "a whole number" if kind == "int" else "a number"
    assert said.startswith(f"{name} is {value!r}. Set it to {noun} from ")
    assert said.endswith(f"or remove {name} for its default.")


def test_numbers_with_junk_are_not_read_in_part() -> None:
    """django-environ reads "30s" as 30.0 and "1e3" as 13.0."""
    for value in ("30s", "1_000", "1,5", "0x10", "¹"):
        assert mistakes(TORRES_LEASE_SECONDS=value).startswith("TORRES_LEASE_SECONDS")
    env = Environment({"A": "1e3", "B": " 12 "})
    assert (env.float("A", default=1), env.int("B", default=1)) == (1000.0, 12)


@pytest.mark.parametrize("name", SWITCHES)
def test_a_mistyped_switch_is_refused(name: str) -> None:
    """TORRES_HTTPS=ture meant false, and cookies went over plain HTTP."""
    for value in ("ture", "", "2", "enabled"):
        said = mistakes(**{name: value})
        assert said.startswith(f"{name} is {value!r}. Set it to 1 or 0")
    for value in ("1", "0", "True", "no", "ON", " off "):
        assert mistakes(**{name: value}) == ""


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"TORRES_SANDBOX": "fully"}, "is 'fully'. Set it to isolated, full, reduced"),
        ({"TORRES_SIGN_UP": "Open"}, "is 'Open'. Set it to open, invitation, closed"),
        ({"DATABASE_URL": "mysql://a:b@c/d"}, "Use postgres:// or postgresql:// or"),
        ({"DATABASE_URL": "postgres://a:b@c:port/d"}, "no URL that the service can"),
        ({"DATABASE_URL": ""}, "DATABASE_URL is empty. Give it a value"),
        ({"BROKER_URL": "amqp://a:b@c"}, "Use redis:// or rediss:// or memory://"),
        ({"BROKER_URL": "redis.example.org"}, "Use redis:// or rediss://"),
        ({"CACHE_URL": "redsi://c"}, "CACHE_URL is no URL that the service can use"),
        ({"TORRES_EMAIL_URL": "pigeon://loft"}, "TORRES_EMAIL_URL is no URL"),
        ({"TORRES_WEBHOOK_NETWORKS": "10.1.0.0/33"}, "contains '10.1.0.0/33'. Write"),
        ({"TORRES_LEASE_SECONDS": "0.5"}, "Set it to a number from 1 to 3600"),
        ({"TORRES_PROXIES": "17"}, "Set it to a whole number from 0 to 16"),
        ({"TORRES_METRICS_TOKEN": "short"}, "can be guessed, or no"),
        ({"TORRES_METRICS_TOKEN": "sixteen characters"}, "can be guessed, or no"),
        (
            {"TORRES_METRICS_TOKEN": "é" * 20},
            "can be guessed, or no header can hold it",
        ),
        ({"TORRES_ALARM_URL": "alarm.example.org"}, "is no address of a server. Write"),
        ({"TORRES_ALARM_URL": "file:///etc/passwd"}, "Write one such as https://"),
        ({"TORRES_MONITOR_WEB": "http://a, http://[::1"}, "TORRES_MONITOR_WEB is no"),
        ({"TORRES_ALARM_MAIL": "o@example.org, ops"}, "contains 'ops', which is no"),
        ({"TORRES_EMAIL_FROM": "ladder"}, "contains 'ladder', which is no address of"),
        ({"TORRES_GITHUB_URL": "http://git.example.org"}, "such as https://"),
        ({"TORRES_GITHUB_URL": "git.example.org"}, "is no address of a server"),
    ],
    ids=str,
)
def test_an_impossible_value_is_refused(variables: dict[str, str], said: str) -> None:
    assert said in mistakes(**variables)


def test_all_mistakes_are_named_at_once_and_no_password() -> None:
    said = mistakes(
        DATABASE_URL="mysql://torres:sesame@db/x",
        TORRES_EMAIL_URL="sesame://x",
        TORRES_PROXIES="x",
        TORRES_TOKN="sesame",
    )
    assert len(said.splitlines()) == 4
    assert "sesame" not in said


def test_the_choices_are_those_of_the_service() -> None:
    choices = {
        name: set(words)
        for name, words in environment.CHOICES.items()
        if name.startswith(environment.PREFIX)
    }
    assert choices == {"TORRES_SANDBOX": {*LEVELS}, "TORRES_SIGN_UP": {*SignUpMode}}


def test_every_bound_belongs_to_a_number_of_the_settings() -> None:
    assert set(environment.BOUNDS) <= {name for _, name in NUMBERS}
    assert len(NUMBERS) > 30


# Names outside the settings.


def names_in(*folders: str) -> set[str]:
    """Return the names that code reads from the environment by itself."""
    files = [file for each in folders for file in (ROOT / each).rglob("*.py")]
    read = r'os\.environ(?:\.get\(|\.setdefault\(|\[)\s*"(TORRES_\w+)"'
    return {name for file in files for name in re.findall(read, file.read_text())}


def test_every_name_that_is_read_elsewhere_is_in_the_list() -> None:
    found = names_in("ladder", "torres", "engine", "deploy", "tests")
    assert found - {name for _, name in READS} == OTHER_NAMES


def test_the_files_of_a_deployment_set_known_names() -> None:
    compiled = "__pycache__"
    files = [
        each
        for each in (ROOT / "deploy").rglob("*")
        if each.is_file() and compiled not in each.parts
    ]
    text = "".join(
        each.read_text() for each in [*files, ROOT / "Makefile", ROOT / ".ci" / "run"]
    )
    found = set(re.findall(r"\bTORRES_[A-Z_]+", text))
    assert len(found) >= 10
    assert found <= OTHER_NAMES | {name for _, name in READS}


# The processes.


def start(tmp_path: Path, words: list[str], **variables: str) -> tuple[int, str]:
    names = ("DATABASE_URL", "BROKER_URL", "TORRES_SIGN_UP")
    home = {name: value for name, value in os.environ.items() if name not in names}
    done = subprocess.run(
        words,
        cwd=ROOT,
        env=home | {"TORRES_DATA": str(tmp_path / "data")} | variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("words", STARTS.values(), ids=STARTS)
def test_no_process_starts_with_a_mistake(tmp_path: Path, words: list[str]) -> None:
    wrong = {"TORRES_PROXYS": "1", "TORRES_LEASE_SECONDS": "soon"}
    code, said = start(tmp_path, words, **wrong)
    assert code != 0
    assert "TORRES_PROXYS is not a setting. Did you mean TORRES_PROXIES?" in said
    assert "TORRES_LEASE_SECONDS is 'soon'. Set it to a number from 1" in said
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"TORRES_EMAIL_URL": "smtp://localhost"}, "TORRES_EMAIL_FROM is missing"),
        ({"TORRES_ALARM_MAIL": "ops@example.org"}, "but the service sends no mail"),
        ({"TORRES_GITHUB_CLIENT": "a"}, "Only one of TORRES_GITHUB_CLIENT and"),
        ({"TORRES_GITHUB_SECRET": "b"}, "Only one of TORRES_GITHUB_CLIENT and"),
    ],
    ids=str,
)
def test_half_a_configuration_is_refused(
    tmp_path: Path, variables: dict[str, str], said: str
) -> None:
    code, refusal = start(tmp_path, STARTS["command"], **variables)
    assert code != 0
    assert said in refusal


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    code, said = start(tmp_path, [*MANAGE, "check"], TORRES_DATA=str(file / "data"))
    assert code == 1
    assert f"The folder {file}/data cannot be used: Not a directory." in said
    assert "Set TORRES_DATA to a folder that this user may write" in said
    assert "Traceback" not in said
