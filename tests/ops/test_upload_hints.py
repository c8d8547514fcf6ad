"""The web server tells the broker of the service at once that an upload waits."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from tests import servers
from tests.ops.running import environment

pytestmark = pytest.mark.usefixtures("_servers")
MANAGE = [sys.executable, str(settings.BASE_DIR / "manage.py")]


@pytest.mark.slow
def test_the_hint_for_an_upload_is_in_the_queue_of_the_service(tmp_path: Path) -> None:
    with servers.redis(tmp_path / "redis") as redis:
        home = environment(tmp_path) | {"BROKER_URL": redis.url}
        token = subprocess.check_output([*MANAGE, "token", "ana"], env=home, text=True)
        address = f"127.0.0.1:{servers.free_port()}"
        serve = subprocess.Popen([*MANAGE, "serve", "--listen", address], env=home)
        try:
            client = httpx.Client(
                base_url=f"http://{address}/api/v1/",
                headers={"Authorization": f"Bearer {token.strip()}"},
                transport=httpx.HTTPTransport(retries=8),
                timeout=30,
            )
            with client:
                client.post("bots/", json={"name": "First"}).raise_for_status()
                package = {"archive": ("bot.py", b"print()")}
                answer = client.post("bots/first/submissions/", files=package)
                assert answer.status_code == httpx.codes.ACCEPTED, answer.text
            hint = redis.execute("LRANGE", "build", "0", "0")
        finally:
            serve.terminate()
            serve.wait()

    message = json.loads(hint[hint.index(b"{") :])
    assert message["headers"]["task"] == "bots.build"
