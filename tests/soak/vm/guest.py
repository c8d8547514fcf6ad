"""Run inside the virtual machine, as root: the sandbox in three places of version 2.

In the hierarchy's root, where a container's first process stands; in a service's own
folder, whose processes have to make room before it can hand controllers down; and in a
folder that is delegated to an ordinary user. What is seen goes to /out.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import IO

OUT = Path("/out")
TOP = Path("/sys/fs/cgroup")
USER = 1234
DELEGATED = ("", "cgroup.procs", "cgroup.threads", "cgroup.subtree_control")
"""What systemd gives to the user whose scope says Delegate=yes."""
_TORRES = "from ladder.cli.main import main; main()"


def main() -> None:
    (OUT / "kernel.json").write_text(json.dumps(_kernel()))
    _doctor("root", TOP)
    (TOP / "cgroup.subtree_control").write_text("+memory +pids")
    _attacks(TOP / "worker.service")
    _doctor("service", TOP / "doctor.service")
    user = TOP / "user.scope"
    user.mkdir()
    for name in DELEGATED:
        os.chown(user / name, USER, USER)
    _give_way(Path(sys.executable).resolve())
    _doctor(
        "user", user, "setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups"
    )


def _kernel() -> dict[str, object]:
    mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
    return {
        "release": os.uname().release,
        "hierarchies": sorted(m[2] for m in mounts if m[2].startswith("cgroup")),
        "controllers": (TOP / "cgroup.controllers").read_text().split(),
    }


def _doctor(name: str, group: Path, *prefix: str) -> None:
    with (OUT / f"doctor-{name}.json").open("w") as file:
        command = [sys.executable, "-c", _TORRES, "doctor", "--json"]
        _inside(group, *prefix, *command, stdout=file)


def _attacks(group: Path) -> None:
    with (OUT / "attacks.jsonl").open("w") as file:
        _inside(group, sys.executable, "-m", "tests.soak.vm.attacks", stdout=file)


def _inside(group: Path, *command: str, stdout: IO[str] | None = None) -> None:
    """Run a command in a control group; what it says goes to the console, or a file."""
    group.mkdir(exist_ok=True)
    enter = ["/bin/sh", "-c", f'echo 0 >{group}/cgroup.procs && exec "$@"', "sh"]
    print(f"in {group}:", *command, flush=True)
    code = subprocess.call([*enter, *command], stdout=stdout)
    print(f"exit code {code}", flush=True)


def _give_way(path: Path) -> None:
    """Let everybody reach a program that lies in somebody's home (in memory only)."""
    for folder in path.parents:
        folder.chmod(folder.stat().st_mode | 0o555)


if __name__ == "__main__":
    main()
