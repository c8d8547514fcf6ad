"""deploy/nginx.conf in a real nginx, in front of a real `manage.py serve`."""

import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from django.conf import settings

from ladder.ops.chaos.servers import free_port
from tests.conftest import part_missing
from tests.ops.running import MANAGE_PY, environment

CONFIG = settings.BASE_DIR / "deploy" / "nginx.conf"
HOST = "ladder.example.org"
START_TIMEOUT_S = 60
SIGN_INS = 4  # of one address in a minute
UPLOAD = "/api/v1/bots/grendel/submissions/"
MAIN = """
{user}
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/ladder.conf;
}}
"""


@dataclass
class Proxy:
    """A running nginx with HTTPS and plain HTTP, and a token of the service."""

    https: int
    http: int
    token: str = ""

    def client(self, address: str = "127.0.0.1") -> httpx.Client:
        """Return a client with this source address. It does not follow redirects."""
        transport = httpx.HTTPTransport(verify=False, local_address=address)
        return httpx.Client(
            base_url=f"https://127.0.0.1:{self.https}",
            headers={"Host": HOST},
            transport=transport,
            timeout=60,
        )


def wait_for(port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        threading.Event().wait(0.05)
    pytest.fail(f"nothing listens on port {port}")


def write_config(folder: Path, proxy: Proxy, service: int) -> Path:
    """Copy nginx.conf with other ports and a certificate; return the main file."""
    text = CONFIG.read_text()
    replacements = {
        "listen 80;": f"listen 127.0.0.1:{proxy.http};",
        "listen 443 ssl;": f"listen 127.0.0.1:{proxy.https} ssl;",
        "127.0.0.1:8000": f"127.0.0.1:{service}",
        "/etc/ssl/ladder.pem": str(folder / "ladder.pem"),
        "/etc/ssl/private/ladder.key": str(folder / "ladder.key"),
    }
    for old, new in replacements.items():
        assert old in text, old
        text = text.replace(old, new)
    (folder / "ladder.conf").write_text(text)
    user = "user root;" if os.getuid() == 0 else ""
    (folder / "nginx.conf").write_text(MAIN.format(folder=folder, user=user))
    return folder / "nginx.conf"


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if nginx is None or shutil.which("openssl") is None:
        part_missing("needs nginx: apt-get install nginx-light openssl")
    folder, service = tmp_path_factory.mktemp("nginx"), free_port()
    proxy = Proxy(free_port(), free_port())
    key = ["-keyout", folder / "ladder.key", "-out", folder / "ladder.pem"]
    request = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *key]
    subprocess.run(
        [*request, "-subj", f"/CN={HOST}", "-days", "1"],
        check=True,
        capture_output=True,
    )
    main = write_config(folder, proxy, service)
    checked = subprocess.run(
        [nginx, "-t", "-c", main], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert "warn" not in checked.stderr
    home = environment(
        folder,
        TORRES_PROXIES="1",
        TORRES_HTTPS="1",
        TORRES_RATE_SIGN_IN=str(SIGN_INS),
        ALLOWED_HOSTS=HOST,
        CSRF_TRUSTED_ORIGINS=f"https://{HOST}",
    )
    words = [*MANAGE_PY, "token", "ana"]
    made = subprocess.run(words, env=home, check=True, capture_output=True)
    proxy.token = made.stdout.decode().strip()
    with ExitStack() as running:
        for command in (
            [*MANAGE_PY, "serve", f"--listen=127.0.0.1:{service}"],
            [nginx, "-c", main],
        ):
            process = subprocess.Popen(command, env=home)
            running.callback(process.wait)
            running.callback(process.send_signal, signal.SIGTERM)
        wait_for(service)
        wait_for(proxy.https)
        yield proxy


def sign_in(client: httpx.Client, **headers: str) -> int:
    """Try to sign in with a wrong token as a browser does; return the status."""
    page = client.get("/sign-in/")
    form = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert form, page.text[:300]
    data = {"token": "wrong", "csrfmiddlewaretoken": form[1]}
    origin = {"Origin": f"https://{HOST}", "Referer": f"https://{HOST}/sign-in/"}
    return client.post("/sign-in/", data=data, headers=origin | headers).status_code


def test_plain_http_is_redirected(proxy: Proxy) -> None:
    answer = httpx.get(
        f"http://127.0.0.1:{proxy.http}/games/", headers={"Host": HOST}, timeout=60
    )

    assert answer.status_code == 301
    assert answer.headers["Location"] == f"https://{HOST}/games/"


def test_cookies_are_for_https_only(proxy: Proxy) -> None:
    with proxy.client() as client:
        answer = client.get("/sign-in/")

    assert answer.status_code == 200
    assert "Secure" in answer.headers["Set-Cookie"]
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]


def test_each_client_has_its_own_rate_limit(proxy: Proxy) -> None:
    """All visitors shared one limit behind the proxy; nobody may forge an address."""
    with proxy.client("127.0.0.2") as guesser, proxy.client("127.0.0.3") as other:
        statuses = [
            sign_in(guesser, **{"X-Forwarded-For": f"10.0.0.{number}"})
            for number in range(3 * SIGN_INS)  # a minute may end meanwhile
        ]
        assert statuses[0] == 422
        assert 429 in statuses
        assert sign_in(other) == 422


def test_a_large_upload_passes_and_a_large_form_does_not(proxy: Proxy) -> None:
    head = {"Authorization": f"Bearer {proxy.token}"}
    with proxy.client("127.0.0.4") as client:
        upload = client.post(UPLOAD, content=b"x" * (64 << 20), headers=head)
        form = client.post("/sign-in/", content=b"x" * (65 << 10), headers=head)

    # The service has read it, and there is no such bot.
    assert upload.status_code == 404, upload.text
    assert form.status_code == 413


def test_head_keeps_the_connection(proxy: Proxy) -> None:
    with proxy.client("127.0.0.5") as client:
        for path in ("/", "/nothing/", "/api/v1/bots/"):
            answer = client.head(path)
            assert answer.content == b""
            assert client.get("/sign-in/").status_code == 200


def test_slow_clients_delay_nobody(proxy: Proxy) -> None:
    """Half-sent uploads of one address; the others are served meanwhile."""
    slow = ["openssl", "s_client", "-quiet", "-bind", "127.0.0.6"]
    slow += ["-connect", f"127.0.0.1:{proxy.https}"]
    half = f"POST {UPLOAD} HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 90000\r\n\r\nx"
    with ExitStack() as stack:
        for _ in range(12):
            process = stack.enter_context(
                subprocess.Popen(slow, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
            )
            stack.callback(process.kill)
            process.stdin.write(half.encode())
            process.stdin.flush()
        with proxy.client("127.0.0.7") as client:
            for _ in range(3):
                assert client.get("/sign-in/").status_code == 200
