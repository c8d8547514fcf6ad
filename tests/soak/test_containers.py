"""The containers of deploy/, from an empty machine to rated games in every language.

Both images are built and deploy/compose.yaml is started, without a Docker engine and
without a registry: a base image is made from Debian's packages, Buildah builds, and
podman-compose starts. `adapted` says what differs from compose.yaml.
"""

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx
import yaml
from django.conf import settings

from ladder.ops.worker_access import broker_rules
from tests import servers
from tests.conftest import need_program, part_missing
from torres.cli.play import find_bot
from torres.cli.submit import packed

DEPLOY = settings.BASE_DIR / "deploy"
KITS = settings.BASE_DIR / "torres" / "kits"
KIT_NAMES = (
    "c", "cpp", "executable", "go", "java", "javascript", "python", "rust", "typescript"
)  # fmt: skip
BASE = "localhost/torres-base:bookworm"
# crun refuses versions 1 and 2 of control groups side by side, and Podman's own limits
# are above what a process may set in some virtual machines.
ENGINE_SETTINGS = """\
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
tmp_dir = "{folder}/state"
[containers]
netns = "host"
log_driver = "k8s-file"
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
"""
STORAGE_SETTINGS = """\
[storage]
driver = "{driver}"
graphroot = "{folder}/images"
runroot = "{folder}/run"
"""
PROGRAMS = {
    "podman": "podman",
    "buildah": "buildah",
    "runc": "runc",
    "mmdebstrap": "mmdebstrap",
}
UNPRIVILEGED = {"web", "dispatcher", "monitor"}
KEEP_NO_PACKAGES = (
    "echo 'APT::Keep-Downloaded-Packages \"false\";'"
    ' > "$1/etc/apt/apt.conf.d/docker-clean"'
)
MAX_COMPRESSED_MB = 250
BUILD_TIMEOUT_S = 3600
RATED_TIMEOUT_S = 900
HEALTHY_S = 300
STOP_S = 10


class ContainerEngine:
    """Podman and Buildah with images and settings in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        driver = (
            "overlay"
            if "\toverlay\n" in Path("/proc/filesystems").read_text()
            else "vfs"
        )
        engine, storage = folder / "containers.conf", folder / "storage.conf"
        engine.write_text(ENGINE_SETTINGS.format(folder=folder))
        storage.write_text(STORAGE_SETTINGS.format(driver=driver, folder=folder))
        self.environ = os.environ | {
            "CONTAINERS_CONF": str(engine),
            "CONTAINERS_STORAGE_CONF": str(storage),
        }

    def run(self, *command: object, timeout_s: float = BUILD_TIMEOUT_S) -> str:
        done = self.attempt(*command, timeout_s=timeout_s)
        assert done.returncode == 0, f"{command}: {done.stdout[-3000:]}{done.stderr}"
        return done.stdout

    def attempt(
        self, *command: object, timeout_s: float = BUILD_TIMEOUT_S
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            list(map(str, command)),
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )

    def make_base(self, architecture: str) -> None:
        """Make the image on which the Dockerfile builds, as Debian's slim image."""
        archive = self.folder / "base.tar"
        without = ("doc", "info", "locale", "man")
        self.run(
            *("mmdebstrap", "--variant=minbase", f"--architectures={architecture}"),
            *(f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in without),
            f"--customize-hook={KEEP_NO_PACKAGES}",
            *("bookworm", archive),
        )
        self.run("podman", "import", f"--arch={architecture}", archive, BASE)
        archive.unlink()

    def build(
        self, target: str, architecture: str = "amd64", file: str = "Dockerfile"
    ) -> None:
        """Build an image, with the package index of this machine."""
        self.run(
            *("buildah", "bud", "--layers", "--isolation=chroot", "--format=docker"),
            *("--arch", architecture, "--from", BASE),
            *("--target", target, "--tag", f"torres-{target}:local"),
            *package_index(self.folder),
            *("--file", DEPLOY / file, settings.BASE_DIR),
        )

    def size_mb(self, image: str) -> int:
        words = ("podman", "image", "inspect", "--format={{.Size}}", image)
        return int(self.run(*words)) // 1_000_000

    def compressed_mb(self, image: str) -> int:
        """Return what a registry would send to somebody who has no layer of it."""
        packed = f"podman save {image} | gzip | wc --bytes"
        return int(self.run("bash", "-o", "pipefail", "-c", packed)) // 1_000_000

    def close(self) -> None:
        """Remove all containers. `podman system reset` would also reset others."""
        self.attempt("podman", "rm", "--force", "--all", "--time", STOP_S)
        self.attempt("umount", self.folder / "images" / "overlay")


def package_index(folder: Path) -> list[str]:
    """Return options of Buildah that give a build the package index of this machine.

    Files and folders that the settings of pip name are shown below /mnt, read-only.
    """
    volumes: set[str] = set()

    def shown(word: str) -> str:
        path = Path(urlsplit(word).path)
        is_index = word.startswith("file:")
        if not (is_index or word.startswith("/")) or not path.exists():
            return word
        # The pages of an index link to files beside its folder.
        place = path.parent if is_index else path
        volumes.add(f"{place}:/mnt{place}:ro")
        return word.replace(str(path), f"/mnt{path}")

    pip = [sys.executable, "-m", "pip", "config", "list"]
    values = {}
    for line in subprocess.check_output(pip, text=True).splitlines():
        setting, _, value = line.partition("=")
        words = value.strip("'").split()
        values[setting.rpartition(".")[2]] = " ".join(shown(word) for word in words)
    settings_file = folder / "pip.conf"
    lines = [f"{name} = {value}\n" for name, value in values.items()]
    settings_file.write_text("".join(["[global]\n", *lines]))
    volumes.add(f"{settings_file}:/etc/pip.conf:ro")
    return [f"--volume={volume}" for volume in sorted(volumes)]


def adapted(port: int) -> dict[str, Any]:
    """Return compose.yaml for this machine.

    - No registry can be reached, so PostgreSQL and Redis run on the host.
    - All containers use the network of the host, and have host names of their own.
    """
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = compose["services"]
    for name in ("db", "redis"):
        del services[name]
        del services["migrate"]["depends_on"][name]
        del compose["volumes"][name]
    for name, service in services.items():
        service |= {"network_mode": "host", "hostname": name}
        service.pop("ports", None)
        service.pop("build")
    listen, address = f"127.0.0.1:{port}", f"http://127.0.0.1:{port}"
    web = json.dumps(services["web"]).replace("0.0.0.0:8000", listen)
    services["web"] = json.loads(web.replace("127.0.0.1:8000", listen))
    services["monitor"]["environment"]["TORRES_MONITOR_WEB"] = address
    return compose


class ContainerService:
    """The containers of compose.yaml on servers of this host."""

    def __init__(self, engine: ContainerEngine, variables: Mapping[str, str]) -> None:
        self.engine = engine
        self.port = servers.free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        self.compose = adapted(self.port)
        self.file = engine.folder / "compose.yaml"
        self.file.write_text(yaml.safe_dump(self.compose))
        environment = "".join(f"{name}={word}\n" for name, word in variables.items())
        (engine.folder / ".env").write_text(environment)
        worker = {
            "TORRES_WORKER": "1",
            "DATABASE_URL": variables["DATABASE_URL"].replace(
                "torres@", "torres_worker:only-for-tests@"
            ),
            "BROKER_URL": variables["BROKER_URL"].replace(
                "//", "//torres_worker:only-for-tests@"
            ),
            "TORRES_SANDBOX": variables["TORRES_SANDBOX"],
        }
        environment = "".join(f"{name}={word}\n" for name, word in worker.items())
        (engine.folder / "worker.env").write_text(environment)

    def up(self) -> None:
        program = Path(sys.executable).with_name("podman-compose")
        self.engine.run(program, "--file", self.file, "up", "--detach")

    @property
    def names(self) -> list[str]:
        """The services that go on to run."""
        return [name for name in self.compose["services"] if name != "migrate"]

    def container(self, name: str) -> str:
        return f"{self.compose['name']}_{name}_1"

    def manage(self, *words: str) -> str:
        web = self.container("web")
        return self.engine.run("podman", "exec", web, "python", "manage.py", *words)

    def health(self, name: str) -> str:
        """Run the health check of a container once, and return the state it leaves.

        Podman leaves the repetition to systemd, which may not run here.
        """
        container = self.container(name)
        self.engine.attempt("podman", "healthcheck", "run", container)
        state = "--format={{.State.Health.Status}}"
        return self.engine.run("podman", "inspect", state, container).strip()

    def user(self, name: str) -> str:
        words = ("podman", "exec", self.container(name), "id", "-un")
        return self.engine.run(*words).strip()

    def logs(self) -> str:
        texts = []
        for name in self.compose["services"]:
            done = self.engine.attempt("podman", "logs", self.container(name))
            texts.append(f"{name}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
        return "\n".join(texts)

    def until(self, question: Callable[[], Any], within_s: float) -> Any:
        """Repeat a question until its answer is true, and return the answer."""
        pause = threading.Event()
        deadline = time.monotonic() + within_s
        while time.monotonic() < deadline:
            try:
                if answer := question():
                    return answer
            except httpx.TransportError:
                pass  # the container is still starting
            pause.wait(1)
        raise AssertionError(self.logs())


@contextmanager
def containers() -> Iterator[tuple[ContainerEngine, servers.Postgres, servers.Redis]]:
    with ExitStack() as stack:
        # Not in pytest's own folder, which the user postgres cannot enter.
        temporary = TemporaryDirectory(
            prefix="torres-soak-", ignore_cleanup_errors=True
        )
        folder = Path(stack.enter_context(temporary))
        folder.chmod(0o755)
        postgres = servers.postgres(folder / "postgres")
        stack.callback(postgres.close)
        redis = servers.redis(folder / "redis")
        stack.callback(redis.close)
        (folder / "engine").mkdir()
        engine = ContainerEngine(folder / "engine")
        stack.callback(engine.close)
        yield engine, postgres, redis


class StepTimes:
    """Prints how long each step took."""

    def __init__(self) -> None:
        self.began = self.last = time.monotonic()

    def lap(self, what: str) -> None:
        now = time.monotonic()
        print(f"{what}: {now - self.last:.0f} s")
        self.last = now

    def total_s(self) -> float:
        return time.monotonic() - self.began


def upload(api: httpx.Client, kit: str) -> str:
    """Upload the first bot of a language, and return the address of the submission."""
    assert api.post("bots/", json={"name": f"kit-{kit}"}).status_code == 201
    files = {"archive": packed(find_bot(str(KITS / kit)))}
    uploaded = api.post(f"bots/kit-{kit}/submissions/", files=files)
    assert uploaded.status_code == 202, uploaded.text
    return uploaded.headers["Location"]


def rated_bots(api: httpx.Client) -> set[str]:
    rows = api.get("ladders/main/leaderboard/").json()["results"]
    return {row["bot"] for row in rows if row["games"]}


def need_everything() -> None:
    if os.geteuid() != 0:
        part_missing("containers with a sandbox need root")
    for program, package in PROGRAMS.items():
        need_program(program, package)


def test_containers_play_rated_games_in_every_language() -> None:
    need_everything()
    watch = StepTimes()
    with containers() as (engine, postgres, redis):
        build_images(engine, watch)
        variables = {
            "DATABASE_URL": postgres.url,
            "BROKER_URL": redis.url,
            "SECRET_KEY": "only-for-tests-" * 4,
            "TORRES_SANDBOX": "full",
            "TORRES_WORKER_PASSWORD": "only-for-tests",
        }
        rules = ["on", ">only-for-tests", *broker_rules(0)]
        redis.execute("ACL", "SETUSER", "torres_worker", "reset", *rules)
        service = ContainerService(engine, variables)
        service.up()
        for name in service.names:
            service.until(lambda n=name: service.health(n) == "healthy", HEALTHY_S)
        watch.lap(f"healthy: {', '.join(service.names)}")
        users = {name: service.user(name) for name in service.names}
        assert {name for name, user in users.items() if user != "root"} == UNPRIVILEGED

        token = service.manage("token", "ana").split()[-1]
        headers = {"Authorization": f"Bearer {token}"}
        base_url = f"{service.address}/api/v1/"
        with httpx.Client(base_url=base_url, headers=headers, timeout=60) as api:
            play_all(service, api, watch)
        status = service.manage("status")
        assert "sandbox full" in status
        assert "The totals add up." in status
        print(f"from nothing to rated games: {watch.total_s():.0f} s")

        postgres.close()
        with ThreadPoolExecutor() as pool:
            checks = pool.map(partial(last_of_three, service), service.names)
            states = dict(zip(service.names, checks, strict=True))
        watch.lap(f"without the database: {states}")
        # Only workers are of no use meanwhile. The others run, and say what is away.
        unhealthy = {name for name, state in states.items() if state == "unhealthy"}
        assert unhealthy == {"worker", "builder"}


def build_images(engine: ContainerEngine, watch: StepTimes) -> None:
    engine.make_base("amd64")
    watch.lap(f"base image of {engine.size_mb(BASE)} MB")
    for target in ("service", "worker"):
        engine.build(target)
        size_mb = engine.size_mb(f"torres-{target}:local")
        watch.lap(f"image {target} of {size_mb} MB")
    compressed_mb = engine.compressed_mb("torres-service:local")
    watch.lap(f"image service compressed, {compressed_mb} MB")
    assert compressed_mb <= MAX_COMPRESSED_MB


def test_the_image_of_an_author_plays(tmp_path: Path) -> None:
    need_everything()
    watch = StepTimes()
    with containers() as (engine, _, _):
        engine.make_base("amd64")
        watch.lap("base image")
        image = "torres-author:local"
        engine.build("author", file="author.Dockerfile")
        watch.lap(f"image of an author of {engine.size_mb(image)} MB")
        inside = ("podman", "run", "--rm", f"--volume={tmp_path}:/bot", image)
        engine.run(*inside, "new", "python", "mine")
        checked = json.loads(engine.run(*inside, "check", "mine", "--json"))
        assert checked["passed"], checked
        engine.run(*inside, "play", "mine", "house:greedy", "--replay", "game.json")
        watch.lap("a bot written, checked and played")
        assert (tmp_path / "game.json").stat().st_size > 0


def test_an_image_for_arm64_is_built_by_an_emulator_and_plays() -> None:
    need_everything()
    need_program("arch-test", "arch-test")
    emulated = subprocess.run(["arch-test", "arm64"], capture_output=True, check=False)
    if emulated.returncode != 0:
        part_missing("programs for arm64 need qemu-user-static and binfmt_misc")
    watch = StepTimes()
    with containers() as (engine, _, _):
        engine.make_base("arm64")
        watch.lap("base image")
        engine.build("service", "arm64")
        watch.lap(f"image of {engine.size_mb('torres-service:local')} MB")
        inside = ("podman", "run", "--rm", "--arch=arm64", "torres-service:local")
        assert engine.run(*inside, "uname", "--machine").strip() == "aarch64"
        played = engine.run(
            *(*inside, "torres", "play", "house:greedy", "house:random"),
            *("--seed", "1", "--json"),
        )
        watch.lap("a game")
        assert json.loads(played)["reason"] == "completed"


def play_all(service: ContainerService, api: httpx.Client, watch: StepTimes) -> None:
    """Upload a bot of each language, and wait until each one is rated."""
    addresses = {kit: upload(api, kit) for kit in KIT_NAMES}
    waiting = {"uploaded", "building", "validating"}

    def checked(address: str) -> dict[str, Any]:
        state = api.get(service.address + address).json()
        return {} if state["status"] in waiting else state

    for kit, address in addresses.items():
        state = service.until(lambda a=address: checked(a), RATED_TIMEOUT_S)
        assert state["status"] == "ready", (kit, state)
    watch.lap(f"{len(addresses)} uploads built and validated")
    wanted = {f"kit-{kit}" for kit in KIT_NAMES}
    service.until(lambda: rated_bots(api) & wanted, RATED_TIMEOUT_S)
    watch.lap("first of them rated")
    service.until(lambda: rated_bots(api) >= wanted, RATED_TIMEOUT_S)
    watch.lap("all of them rated")


def last_of_three(service: ContainerService, name: str) -> str:
    """Return the state after three health checks: compose.yaml retries as often."""
    return [service.health(name) for _ in range(3)][-1]
