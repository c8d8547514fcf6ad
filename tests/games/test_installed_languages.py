"""Authors see which languages the workers run, and what uploads wait for."""

import shutil

import pytest
from rest_framework.test import APIClient

from ladder.bots.models import Submission
from ladder.games.installed_languages import VERSION_PREFIX
from ladder.games.models import Worker
from tests.games import factories
from torres.runner.languages import LANGUAGES
from torres.runner.tool_versions import tool_versions

pytestmark = pytest.mark.django_db


def test_the_languages_of_live_workers_are_listed(anybody: APIClient) -> None:
    for number, version in enumerate(("gcc 12.2", "gcc 13.1", "gcc 12.2")):
        Worker.objects.create(
            name=f"host:data#{number}",
            host="host",
            languages=["c", "python"],
            versions={"rules": "1", f"{VERSION_PREFIX}c": version},
        )

    document = anybody.get("/api/v1/languages/").json()

    rows = {row["name"]: row for row in document["languages"]}
    assert list(rows) == [language.name for language in LANGUAGES]
    assert rows["c"]["workers"] == 3
    assert rows["c"]["versions"] == ["gcc 12.2", "gcc 13.1"]
    assert rows["c"]["build"].startswith("gcc -O2")
    assert (rows["rust"]["workers"], rows["rust"]["packages"]) == (0, ["gcc", "rustc"])
    assert document["upload"]["packed_bytes"] == 64 << 20


def test_waiting_uploads_are_counted_by_language(anybody: APIClient) -> None:
    submission = factories.newest(factories.bot("mine"))
    Submission.objects.filter(pk=submission.pk).update(
        language="rust", status=Submission.Status.WAITING
    )

    rows = anybody.get("/api/v1/languages/").json()["languages"]

    assert {row["name"]: row["waiting"] for row in rows if row["waiting"]} == {
        "rust": 1
    }


@pytest.mark.skipif(shutil.which("gcc", path="/usr/bin") is None, reason="needs gcc")
def test_a_worker_knows_the_versions_of_its_tools() -> None:
    versions = tool_versions(["c", "executable", "no-such-language"])

    assert list(versions) == ["c"]
    assert versions["c"].startswith("gcc")
