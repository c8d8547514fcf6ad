"""A small virtual machine that has only control groups of version 2.

Its CPU is emulated, so that it boots anywhere. Its kernel is Debian's, downloaded by
apt-get and never installed. Its files are this host's; it keeps its changes in memory.
It writes its results to one folder that it shares with the host.
"""

import os
import platform
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

QEMU = "qemu-system-x86_64"
ROOT = Path(__file__).parents[3]
HERE = Path(__file__).parent
_MODULES = (
    *("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev"),
    *("virtio_pci", "9pnet", "9pnet_virtio", "netfs", "fscache", "9p", "overlay"),
)
"""In the order in which they are loaded. Modules that the kernel has built in are
skipped."""
_APT_TIMEOUT_S = 300


class PartMissing(Exception):
    """The machine cannot run on this host; the message says why, and what to do."""


@dataclass(frozen=True)
class Parts:
    """A kernel, some of its modules, and busybox, which is the shell of its init."""

    kernel: Path
    modules: tuple[Path, ...]
    busybox: Path


def parts() -> Parts:
    """Return the parts; download them once, then keep them. Raises PartMissing."""
    if platform.machine() != "x86_64":
        raise PartMissing(f"the virtual machine is an x86_64, not {os.uname().machine}")
    for program, package in ((QEMU, "qemu-system-x86"), ("apt-get", "apt")):
        if shutil.which(program) is None:
            raise PartMissing(f"{program} is missing. Run apt-get install {package}.")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    cache = Path(base) / "torres-ladder" / "vm"
    if not cache.is_dir():
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache.parent, prefix=".vm-") as draft:
            folder = Path(draft) / "vm"
            folder.mkdir()
            for package in (_kernel_package(), "busybox-static"):
                _unpack(_download(package, Path(draft)), folder)
            folder.rename(cache)
    paths = [cache / f"{name}.ko" for name in _MODULES]
    modules = tuple(path for path in paths if path.exists())
    return Parts(cache / "vmlinuz", modules, cache / "busybox")


def _kernel_package() -> str:
    """Return the package with the newest kernel. A cloud kernel would have no 9p."""
    for line in _output("apt-cache", "depends", "linux-image-amd64").splitlines():
        if line.strip().startswith("Depends: linux-image-"):
            return line.split()[-1]
    raise PartMissing(
        "apt has no package linux-image-amd64, Debian's kernel. Use a Debian host."
    )


def _download(package: str, folder: Path) -> Path:
    _output("apt-get", "download", package, cwd=folder)
    (file,) = folder.glob(f"{package}_*.deb")
    return file


def _output(*words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(
        words,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=_APT_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise PartMissing(f"{' '.join(words)}: {done.stderr.strip()[-300:]}")
    return done.stdout


def _unpack(package: Path, folder: Path) -> None:
    """Extract the few files of a package that a boot needs."""
    wanted = {"bin/busybox", *(f"{name}.ko" for name in _MODULES)}
    command = ["dpkg-deb", "--fsys-tarfile", str(package)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE) as process,
        tarfile.open(fileobj=process.stdout, mode="r|") as files,
    ):
        for file in files:
            path = Path(file.name)
            name = "vmlinuz" if path.name.startswith("vmlinuz-") else path.name
            names = {name, f"{path.parent.name}/{name}"}
            is_wanted = name == "vmlinuz" or names & wanted
            if file.isfile() and is_wanted:
                content = files.extractfile(file)
                assert content is not None
                (folder / name).write_bytes(content.read())
                (folder / name).chmod(0o755)


def boot(parts: Parts, command: list[str], out: Path, timeout_s: float) -> None:
    """Run a command as root of the machine, and wait until the machine is off.

    ``out`` is the folder that the machine sees as /out and may write to. Its console
    is written to ``out/console``. Raises subprocess.TimeoutExpired.
    """
    with _initial_files(parts, command) as initrd, (out / "console").open("wb") as tty:
        words = [
            *(QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2"),
            *("-m", "2048", "-nographic", "-no-reboot", "-nic", "none"),
            *("-kernel", str(parts.kernel), "-initrd", str(initrd)),
            *("-append", "console=ttyS0 quiet panic=-1 cgroup_no_v1=all"),
            *("-virtfs", _share("/", "host", "multidevs=remap,readonly=on")),
            *("-virtfs", _share(out, "out", "multidevs=remap")),
        ]
        subprocess.run(
            words, stdin=subprocess.DEVNULL, stdout=tty, stderr=tty,
            timeout=timeout_s, check=True,
        )  # fmt: skip


def _share(path: Path | str, tag: str, options: str) -> str:
    return f"local,path={path},mount_tag={tag},security_model=none,{options}"


@contextmanager
def _initial_files(parts: Parts, command: list[str]) -> Iterator[Path]:
    """Make the archive that the kernel boots from: a shell, modules and a script."""
    with tempfile.TemporaryDirectory(prefix="torres-vm-") as draft:
        tree = Path(draft) / "tree"
        for folder in ("bin", "modules", "host", "over", "root", "proc", "dev"):
            (tree / folder).mkdir(parents=True)
        shutil.copy(parts.busybox, tree / "bin" / "busybox")
        for number, module in enumerate(parts.modules):
            shutil.copy(module, tree / "modules" / f"{number:02}.ko")
        shutil.copy(HERE / "init.sh", tree / "init")
        (tree / "init").chmod(0o755)
        (tree / "command").write_text(
            f"cd {shlex.quote(str(ROOT))}\n{shlex.join(command)}\n"
            "echo the command ended: $?\nsync\n/run/busybox poweroff -f\n"
        )
        names = "\n".join(str(p.relative_to(tree)) for p in tree.rglob("*"))
        archive = Path(draft) / "initrd"
        with archive.open("wb") as file:
            subprocess.run(
                [str(parts.busybox), "cpio", "-o", "-H", "newc"],
                cwd=tree, input=names.encode(), stdout=file,
                stderr=subprocess.DEVNULL, check=True,
            )  # fmt: skip
        yield archive
