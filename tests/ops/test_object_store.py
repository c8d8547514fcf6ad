"""A service keeps its uploads in an object store: here a real server of moto.

Everything else is real, too: `manage.py up`, HTTP, and a bot that is uploaded, stored,
validated, and plays from what the store returns.
"""

import io
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import httpx
import pytest
from django.core.exceptions import ImproperlyConfigured

from ladder.common.environment import Environment
from ladder.common.object_store import storage_settings
from ladder.ops.backup import UPLOADS_FOLDER
from tests import servers
from tests.ops.running import MANAGE_PY, environment, running_service
from tests.ops.test_upload_to_leaderboard import BOT

BUCKET = "torres-uploads"
TIMEOUT_S = 120.0
KEYS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "only-for-tests",
    "AWS_DEFAULT_REGION": "us-east-1",
}


class S3(servers.ServerProcess):
    """A server of S3 in a process of its own. It keeps its objects in memory."""

    @property
    def url(self) -> str:
        return f"http://{self.address}:{self.port}"

    def command(self) -> list[str]:
        place = ("-H", self.address, "-p", str(self.port))
        return [sys.executable, "-m", "moto.server", *place]

    def accepts_connections(self) -> bool:
        try:
            return httpx.get(f"{self.url}/moto-api/data.json").is_success
        except httpx.TransportError:
            return False

    def packages(self) -> dict[str, bytes]:
        """Return the contents of all objects by their names."""
        client = self.client()
        listed = client.list_objects_v2(Bucket=BUCKET)["Contents"]
        names = [each["Key"] for each in listed]
        get = client.get_object
        return {name: get(Bucket=BUCKET, Key=name)["Body"].read() for name in names}

    def client(self) -> Any:
        return boto3.client(
            "s3",
            endpoint_url=self.url,
            aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
            region_name=KEYS["AWS_DEFAULT_REGION"],
        )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3]:
    folder = tmp_path / "s3"
    folder.mkdir()
    with S3(folder, "127.0.0.1", ()) as server:
        server.client().create_bucket(Bucket=BUCKET)
        yield server


def until(question: Callable[[], Any]) -> Any:
    """Repeat a question until its answer is true, and return the answer."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (answer := question()):
        assert time.monotonic() < deadline
        threading.Event().wait(0.2)
    return answer


def deploy_check(home: dict[str, str]) -> str:
    done = subprocess.run(
        [*MANAGE_PY, "check", "--deploy"],
        env=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def manage(home: dict[str, str], *words: str) -> str:
    return subprocess.check_output([*MANAGE_PY, *words], env=home, text=True)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.long
def test_an_upload_plays_from_the_object_store(store: S3, tmp_path: Path) -> None:
    uploads = f"s3://{BUCKET}/ladder/one?endpoint={store.url}"
    sandbox = {"TORRES_SANDBOX": "none", "TORRES_PRACTICE_SLOTS": "0"}
    home = environment(tmp_path, TORRES_UPLOADS=uploads, **KEYS, **sandbox)
    manage(home, "prepare")
    token = manage(home, "token", "ana").split()[-1]
    headers = {"Authorization": f"Bearer {token}"}
    with (
        running_service(home) as (server, _),
        httpx.Client(base_url=f"{server}/api/v1/", headers=headers, timeout=60) as api,
    ):
        api.post("bots/", json={"name": "Stored"}).raise_for_status()
        files = {"archive": ("bot.py", BOT.encode())}
        uploaded = api.post("bots/stored/submissions/", files=files)
        address = f"{server}{uploaded.raise_for_status().headers['Location']}"
        ends = {"ready", "rejected"}
        until(lambda: api.get(address).json()["status"] in ends)
        submission = api.get(address).json()
        assert submission["status"] == "ready", submission
        played = {"bot": "stored", "status": "finished"}
        until(lambda: api.get("games/", params=played).json()["results"])

        package = api.get(f"{address}archive/").raise_for_status().content
        assert zipfile.ZipFile(io.BytesIO(package)).read("bot.py") == BOT.encode()

    # House bots are stored, too.
    (key,) = [name for name, body in store.packages().items() if body == package]
    assert key.startswith("ladder/one/")
    assert not (tmp_path / "data" / "submissions").exists()
    manage(home, "backup", str(tmp_path / "backup"))
    copy = tmp_path / "backup" / UPLOADS_FOLDER / key.removeprefix("ladder/one/")
    assert copy.read_bytes() == package
    check_reports_losses(store, home, key)


def check_reports_losses(store: S3, home: dict[str, str], key: str) -> None:
    assert "deployment.E00" not in deploy_check(home)
    client = store.client()
    client.delete_object(Bucket=BUCKET, Key=key)
    assert "TORRES_UPLOADS must be the same" in deploy_check(home)
    for name in store.packages():
        client.delete_object(Bucket=BUCKET, Key=name)
    client.delete_bucket(Bucket=BUCKET)
    assert "The object store refuses the bucket" in deploy_check(home)
    store.kill()
    assert "The object store refuses the bucket" in deploy_check(home)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("/srv/uploads", "is not the URL of a bucket"),
        ("s3://", "is not the URL of a bucket"),
        ("s3://UPPER", "is not the URL of a bucket"),
        ("s3://key:secret@bucket", "is not the URL of a bucket"),
        ("https://bucket.example.org", "is not the URL of a bucket"),
        ("s3://bucket?endpont=https://s3.example.org", "'endpont'"),
        ("s3://bucket?endpoint=s3.example.org", "endpoint"),
        ("s3://bucket?endpoint=file:///etc", "endpoint"),
        ("s3://bucket?endpoint", "cannot be read"),
        ("s3://[bucket", "cannot be read"),
    ],
)
def test_a_service_with_a_wrong_url_does_not_start(url: str, problem: str) -> None:
    variables = Environment({"TORRES_UPLOADS": url})
    storage = variables.storage("TORRES_UPLOADS", Path("/data"))

    assert storage["OPTIONS"] == {"location": Path("/data")}
    with pytest.raises(ImproperlyConfigured, match="TORRES_UPLOADS") as refusal:
        variables.refuse_mistakes()
    assert problem in str(refusal.value)
    assert "secret" not in str(refusal.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ladder.common.object_store.find_spec", lambda _: None)

    with pytest.raises(ValueError, match=r"pip install 'torres-ladder\[s3\]'"):
        storage_settings("s3://bucket")


def test_a_bucket_of_aws_needs_no_endpoint() -> None:
    options = storage_settings("s3://bucket?region=eu-central-1")["OPTIONS"]

    assert options["endpoint_url"] is None
    assert (options["bucket_name"], options["location"]) == ("bucket", "")
    assert options["region_name"] == "eu-central-1"
