"""The pipelines are sound, need few rights, and call what any host can call."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / ".github/workflows"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
ACTION = ROOT / "deploy/bot-action/action.yml"
PINNED = re.compile(r"uses: [\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
MAY_WRITE = {
    ("release.yml", "publish"): {"id-token", "attestations"},
    ("images.yml", "build"): {"packages"},
    ("images.yml", "join"): {"packages"},
}
BROKEN = """
on: push
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@main
      - run: echo ${{ github.event.head_commit.message }}
"""
DOCKERFILE = ROOT / "deploy/Dockerfile"
LINTERS = {
    "actionlint": [],
    "zizmor": ["--offline", "--persona", "pedantic"],
    "hadolint": ["--config", str(ROOT / "deploy/hadolint.yaml")],
}


def lint(linter: str, *files: Path) -> subprocess.CompletedProcess[str]:
    """Run a linter, which `make dev` installs."""
    program = shutil.which(linter, path=Path(sys.executable).parent)
    if program is None:
        assert os.environ.get("TESTS_REQUIRE_ALL") != "1", f"{linter} is not installed"
        pytest.skip(f"{linter} is not installed")
    return subprocess.run(
        [program, *LINTERS[linter], *files],
        capture_output=True,
        text=True,
        check=False,
    )


def jobs() -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path.name, name, job)
        for path in WORKFLOWS
        for name, job in yaml.safe_load(path.read_text())["jobs"].items()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("linter", ["actionlint", "zizmor"])
def test_a_linter_finds_nothing_in_the_pipelines(linter: str) -> None:
    done = lint(linter, *WORKFLOWS)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_linter_finds_nothing_in_the_files_of_the_images(tmp_path: Path) -> None:
    done = lint("hadolint", DOCKERFILE, DOCKERFILE.with_name("author.Dockerfile"))
    assert done.returncode == 0, done.stdout + done.stderr

    broken = tmp_path / "Dockerfile"
    text = DOCKERFILE.read_text()
    broken.write_text(text.replace("# hadolint ignore=DL3002\n", ""))
    assert "DL3002" in lint("hadolint", broken).stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("linter", "finding"),
    [("actionlint", "potentially untrusted"), ("zizmor", "template-injection")],
)
def test_a_linter_works_without_a_network(
    linter: str, finding: str, tmp_path: Path
) -> None:
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    broken = folder / "broken.yml"
    broken.write_text(BROKEN)

    done = lint(linter, broken)

    assert done.returncode != 0
    assert finding in done.stdout


def test_each_action_is_pinned_to_a_commit_and_says_its_version() -> None:
    lines = [
        line.strip().removeprefix("- ")
        for path in (*WORKFLOWS, ACTION)
        for line in path.read_text().splitlines()
        if "uses:" in line
    ]

    assert [line for line in lines if not PINNED.fullmatch(line)] == []
    versions = {tuple(line.split("@")) for line in lines}
    assert len(versions) == len({action for action, _ in versions})


def test_a_job_may_write_only_what_it_publishes() -> None:
    for path in WORKFLOWS:
        assert yaml.safe_load(path.read_text())["permissions"] == {}
    for file, name, job in jobs():
        rights = job["permissions"]
        writes = {right for right, value in rights.items() if value != "read"}
        assert writes == MAY_WRITE.get((file, name), set()), (file, name)
        assert rights.keys() - writes <= {"contents"}
        assert job["timeout-minutes"] <= 120


def test_the_steps_call_programs_of_this_repository() -> None:
    runs = [
        step["run"] for _, _, job in jobs() for step in job["steps"] if "run" in step
    ]
    text = "\n".join(runs)
    named = set(re.findall(r"(?:deploy|\.ci)/[\w./-]+", text))
    targets = set(re.findall(r"make ([a-z-]+)", text))
    makefile = (ROOT / "Makefile").read_text()

    assert {"deploy/images.sh", "deploy/try_wheel.py", ".ci/run"} <= named
    assert [path for path in named if not (ROOT / path).is_file()] == []
    assert {"test", "audit", "sbom"} <= targets
    assert [name for name in targets if f"\n{name}:" not in makefile] == []


def test_a_first_game_is_played_with_the_installed_package() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "deploy/try_wheel.py"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "a game with the" in done.stdout


def test_all_images_are_built_and_sent_by_one_script(tmp_path: Path) -> None:
    engine = tmp_path / "engine"
    engine.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\n')
    engine.chmod(0o755)

    subprocess.run(
        [ROOT / "deploy/images.sh", "registry.example/torres", "1.0-amd64"],
        env=os.environ | {"ENGINE": str(engine), "PUSH": "1"},
        check=True,
    )

    build = (
        "build --file deploy/Dockerfile --target {0} --tag registry.example/torres-{0}:"
    )
    assert (tmp_path / "calls").read_text().splitlines() == [
        line
        for target in ("service", "worker", "backup")
        for line in (
            f"{build.format(target)}1.0-amd64 .",
            f"push registry.example/torres-{target}:1.0-amd64",
        )
    ]


def action_step(name: str, folder: Path, **variables: str) -> int:
    """Run a step of the action for bots as a host of code does; return its exit code.

    The program `torres` is that of the folder, or else the one of `make dev`.
    """
    steps = yaml.safe_load(ACTION.read_text())["runs"]["steps"]
    (step,) = (step for step in steps if step.get("name") == name)
    assert step["env"].keys() == variables.keys()
    path = f"{folder}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ | variables | {"PATH": path},
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode


def test_a_linter_finds_nothing_in_the_action_for_bots() -> None:
    done = lint("zizmor", ACTION)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_action_accepts_a_bot_and_refuses_a_faulty_one(tmp_path: Path) -> None:
    bot = tmp_path / "a bot.py"
    bot.write_text((ROOT / "torres/kits/python/bot.py").read_text())
    assert action_step("Check the bot", tmp_path, BOT=bot.name) == 0
    bot.write_text("import sys\nsys.exit(1)\n")
    assert action_step("Check the bot", tmp_path, BOT=bot.name) == 1


@pytest.mark.parametrize(("slug", "named"), [("", ""), ("my bot", "--bot\nmy bot\n")])
def test_the_action_uploads_to_the_ladder_that_is_named(
    slug: str, named: str, tmp_path: Path
) -> None:
    program = tmp_path / "torres"
    program.write_text('#!/bin/sh\nprintf \'%s\\n\' "$@" "$TORRES_LADDER" > called\n')
    program.chmod(0o755)
    code = action_step(
        "Upload the bot",
        tmp_path,
        BOT="a bot.py",
        SLUG=slug,
        TORRES_LADDER="https://ladder.example.org",
        TORRES_TOKEN="secret",
    )
    assert code == 0
    called = (tmp_path / "called").read_text()
    assert (
        called == f"submit\na bot.py\n{named}--no-check\nhttps://ladder.example.org\n"
    )
