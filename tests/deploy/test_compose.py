"""Check the files in deploy/, as far as this works without a container engine."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.management import get_commands, load_command_class

from ladder.ops.worker_access import broker_rules
from torres.runner.languages import LANGUAGES

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
SOFT_SHUTDOWN_S = 20
MANAGE = "manage.py"
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()


def environment(file: str) -> dict[str, str]:
    lines = (DEPLOY / file).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_every_image_is_pinned(name: str) -> None:
    image = SERVICES[name]["image"]

    assert re.search(r":\S*(\d|local)", image), f"{name} runs {image}"
    assert not image.endswith(":latest")


@pytest.mark.parametrize("name", ["Dockerfile", "author.Dockerfile"])
def test_the_base_image_is_pinned(name: str) -> None:
    text = (DEPLOY / name).read_text()
    stages = re.findall(r"^FROM (\S+) AS (\S+)$", text, re.MULTILINE)
    bases = {base for base, _ in stages} - {name for _, name in stages}

    assert len(stages) == text.count("FROM ")
    assert bases
    assert all(re.search(r":.*\d", base) for base in bases)


def test_the_image_of_an_author_is_made_of_what_the_context_holds() -> None:
    text = (DEPLOY / "author.Dockerfile").read_text()
    ignored = (DEPLOY.parent / ".dockerignore").read_text().splitlines()
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", text, re.MULTILINE)
    names = {name for words in copied for name in words.split()}

    assert {"pyproject.toml", "engine", "torres"} <= names
    assert {f"!{name}" for name in names} <= set(ignored)
    assert all((DEPLOY.parent / name).exists() for name in names)


def test_the_worker_has_the_tools_of_every_language() -> None:
    installed = set(DOCKERFILE.partition(" AS worker\n")[2].split())
    needed = {package for each in LANGUAGES for _, package in each.needs}

    assert needed - {"python3"} <= installed  # python3 is in the common base


@pytest.mark.parametrize("name", ["migrate", "web", "dispatcher", "monitor"])
def test_what_runs_no_bots_has_no_privileges(name: str) -> None:
    service = SERVICES[name]
    stage = DOCKERFILE.partition(" AS service\n")[2].partition("\nFROM ")[0]

    assert service["build"]["target"] == "service"
    assert "USER 10001\n" in stage
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"]
    assert "privileged" not in service


@pytest.mark.parametrize("name", sorted(SERVICES.keys() - {"db", "redis"}))
def test_each_service_waits_for_the_migrations_by_itself(name: str) -> None:
    """podman-compose starts them while `migrate` still runs."""
    entrypoint = SERVICES[name]["entrypoint"]
    init = json.loads(re.findall(r"^ENTRYPOINT (.*)$", DOCKERFILE, re.MULTILINE)[0])
    waits = [] if name == "migrate" else ["python", MANAGE, "await_migrations"]

    assert entrypoint == [*init, *waits]
    assert "await_migrations" in get_commands()


@pytest.mark.parametrize("name", ["worker", "builder"])
def test_a_further_host_runs_the_same_workers(name: str) -> None:
    further = yaml.safe_load((DEPLOY / "compose.worker.yaml").read_text())
    own = ("volumes", "depends_on")  # the folder that hosts share, and other hosts

    assert without(further["services"][name], own) == without(SERVICES[name], own)


def without(service: dict[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: value for name, value in service.items() if name not in names}


@pytest.mark.parametrize("name", ["db", "redis"])
def test_services_that_others_wait_for_have_a_health_check(name: str) -> None:
    assert SERVICES[name]["healthcheck"]["test"]
    assert SERVICES["migrate"]["depends_on"][name]["condition"] == "service_healthy"


LOOP_GOES_ON = 'test -n "$(find /tmp/alive -mmin -3)"'


@pytest.mark.parametrize("file", ["compose.yaml", "compose.worker.yaml"])
def test_every_part_has_a_health_check(file: str) -> None:
    services = yaml.safe_load((DEPLOY / file).read_text())["services"]
    checks = {name: service["healthcheck"] for name, service in services.items()}

    disabled = {name for name, check in checks.items() if check.get("disable")}
    assert disabled <= {"migrate"}  # it ends
    for name in checks.keys() - disabled:
        assert checks[name]["test"]
        assert checks[name]["retries"]


def test_a_health_check_sees_a_loop_that_stands_still(tmp_path: Path) -> None:
    words = SERVICES["dispatcher"]["healthcheck"]["test"]
    assert words == ["CMD", "sh", "-c", LOOP_GOES_ON.replace("$", "$$")]
    assert json.dumps(LOOP_GOES_ON) in DOCKERFILE
    assert " TORRES_ALIVE_FILE=/tmp/alive\n" in DOCKERFILE
    alive = tmp_path / "alive"
    check = ["sh", "-c", LOOP_GOES_ON.replace("/tmp/alive", str(alive))]

    assert subprocess.run(check, check=False).returncode == 1
    alive.touch()
    assert subprocess.run(check, check=False).returncode == 0
    old = alive.stat().st_mtime - 600
    os.utime(alive, (old, old))
    assert subprocess.run(check, check=False).returncode == 1


def test_a_worker_has_time_to_release_its_games() -> None:
    worker = SERVICES["worker"]

    assert worker["environment"]["REMAP_SIGTERM"] == "SIGQUIT"
    assert int(worker["stop_grace_period"].rstrip("s")) > SOFT_SHUTDOWN_S


def test_redis_does_not_evict_its_queues() -> None:
    words = SERVICES["redis"]["command"]

    assert words[words.index("--maxmemory-policy") + 1] == "noeviction"
    assert words[words.index("--appendonly") + 1] == "yes"


def test_the_user_of_redis_is_the_declared_one() -> None:
    words = SERVICES["redis"]["command"]
    user = words.index("--user")

    assert words[user + 1 : user + 3] == ["torres_worker", "on"]
    assert words[user + 4 :] == broker_rules(0)
    assert "--requirepass" in words


@pytest.mark.parametrize("name", ["worker", "builder", "practice"])
def test_workers_get_no_secret_and_change_no_upload(name: str) -> None:
    further = yaml.safe_load((DEPLOY / "compose.worker.yaml").read_text())["services"]
    for service in (SERVICES[name], further.get(name, SERVICES[name])):
        caches, uploads = service["volumes"]
        assert service["env_file"] == "worker.env"
        assert caches == "caches:/data"
        assert uploads.endswith(":/data/submissions:ro")
    values = environment("example.worker.env")
    assert values["TORRES_WORKER"] == "1"
    assert not {"SECRET_KEY", "TORRES_METRICS_TOKEN"} & values.keys()


@pytest.mark.parametrize("file", ["example.env", "example.worker.env"])
def test_the_files_contain_no_secret(file: str) -> None:
    for name, value in environment(file).items():
        if "PASSWORD" in name or "SECRET" in name or "@" in value:
            assert "CHANGE" in value, name


def test_every_command_of_the_service_exists() -> None:
    commands = {
        path.stem
        for path in (DEPLOY.parent / "ladder").rglob("management/commands/*.py")
    }
    text = "".join(
        (DEPLOY.parent / page).read_text()
        for page in ("deploy/compose.yaml", "deploy/README.md", "docs/operating.md")
    )
    of_django = {"changepassword", "check", "createsuperuser"}
    used = set(re.findall(r'manage\.py"?,? "?([a-z_]+)', text)) - of_django

    assert used
    assert used <= commands


def commands(text: str) -> list[list[str]]:
    """Return the words after `manage.py` of each command in exec form."""
    lists = [json.loads(words) for words in re.findall(r"\[\"[^\]]*\]", text)]
    return [words[words.index(MANAGE) + 1 :] for words in lists if MANAGE in words]


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml"])
def test_every_command_of_a_container_parses(name: str) -> None:
    entries = commands((DEPLOY / name).read_text())

    assert entries
    for command, *options in entries:
        app = get_commands()[command]
        parser = load_command_class(app, command).create_parser(MANAGE, command)
        assert parser.parse_args(options)


def test_prepare_is_a_shell_script_that_parses() -> None:
    subprocess.run(["sh", "-n", DEPLOY / "prepare.sh"], check=True)
