"""Run the sandbox in the virtual machine, as root, in three groups of version 2.

The groups are the root of the hierarchy, where the first process of a container is;
the folder of a service, whose processes must move before it can delegate controllers;
and a folder that is delegated to an ordinary user. The results are written to /out.
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
"""The files that systemd gives to the user of a scope with Delegate=yes."""
_TORRES = "from torres.cli.main import main; main()"


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
    _make_reachable(Path(sys.executable).resolve())
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
    """Run a command in a control group; its output goes to a file or to the console."""
    group.mkdir(exist_ok=True)
    enter = ["/bin/sh", "-c", f'echo 0 >{group}/cgroup.procs && exec "$@"', "sh"]
    print(f"in {group}:", *command, flush=True)
    code = subprocess.call([*enter, *command], stdout=stdout)
    print(f"exit code {code}", flush=True)


def _make_reachable(path: Path) -> None:
    """Let every user reach a program in a home folder (a change in memory only)."""
    for folder in path.parents:
        folder.chmod(folder.stat().st_mode | 0o555)


if __name__ == "__main__":
    main()
