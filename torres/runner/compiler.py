"""Compiles a submission once, in the sandbox, and stores the files that it made.

A compiler runs code of the bot's author, so the sandbox holds it like a bot, with other
limits. The compiled files leave the sandbox as a tar stream on the compiler's stdout,
which is untrusted like any upload: the sandbox can write to no folder of the host, and
no link in the stream is followed.
"""

import contextlib
import hashlib
import os
import select
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

from engine.referee import ServiceFault
from torres.common.errors import LadderError
from torres.common.limited_process import (
    LimitExceeded,
    ProcessFailed,
    ProcessLimits,
    run_limited,
)
from torres.runner import build_output
from torres.runner.connection import wait_for_exit
from torres.runner.portable_compiler import compile_in
from torres.runner.protocol import STDERR_TAIL_BYTES, Limits
from torres.runner.sandbox.api import Program, Running, Sandbox, SandboxUnavailable

LIMITS = Limits(memory_mb=1_536, pids=256, tmp_mb=512)
"""The limits of one compiler. The files in its /tmp count as memory."""
SECONDS = 120  # of CPU time for one compiler; of wall time twice as much
OUT_MB = 64  # of compiled files
_UNPACK_LIMITS = ProcessLimits(
    cpu_s=20, wall_s=60, memory_mb=512, file_bytes=(OUT_MB + 1) << 20
)
_READ_BYTES = 65_536
_EXIT_TIMEOUT_MS = 5_000  # for a compiler to exit after it closed its output
_SHELL = '"$@" >&2 && exec tar -C "$OUT" -cf - .'
"""Runs in the sandbox: all output of the compiler is the log, and stdout is the tar."""
_ENV = {"GO111MODULE": "auto"}
_ENV_SANDBOXED = {
    "GOCACHE": "/tmp/go",  # noqa: S108 - the /tmp of the sandbox
    "GOPATH": "/tmp/gopath",  # noqa: S108
    "GOPROXY": "off",
}


class BuildFailed(LadderError, code="build-failed", http_status=422):
    """The submission does not compile. ``log`` is the end of the compiler's output."""

    def __init__(self, why: str, log: str) -> None:
        super().__init__(f"The bot could not be built: {why}")
        self.log = log


@dataclass(frozen=True, slots=True)
class Built:
    """A bot that can be started, and the end of its compiler's output."""

    program: Program
    log: str


def build(program: Program, sandbox: Sandbox, target: Path) -> Built:
    """Compile ``program`` into the folder ``target``, which must not exist yet.

    ``target`` gets the sources and the compiled files. Raises BuildFailed if the bot is
    at fault, ServiceFault if the service is, and SandboxUnavailable if the sandbox's
    level has nothing that a compiler can write to.
    """
    tar = b""
    if sys.platform == "linux":
        tar, log = _compile(program, sandbox)
    draft = Path(tempfile.mkdtemp(dir=target.parent, prefix=".build-"))
    try:
        shutil.copytree(program.folder, draft, symlinks=True, dirs_exist_ok=True)
        if sys.platform == "linux":
            _unpack(tar, draft, _made_program(program), log)
        else:
            code, log = compile_in(draft, program.compile, 2 * SECONDS)
            if code:
                raise BuildFailed(f"the compiler ended with exit code {code}", log)
        draft.chmod(0o755)
        draft.rename(target)
    except (OSError, ProcessFailed) as why:
        raise ServiceFault(
            f"the compiled files could not be stored in {target}: {why}; check the disk"
        ) from why
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return Built(replace(program, folder=target, compile=()), log)


def prepared(program: Program, sandbox: Sandbox, cache: Path) -> Program:
    """Return ``program`` ready to run. Build it in ``cache`` if it is not there yet."""
    if not program.compile:
        return program
    target = cache / f"{program.language}-{_digest(program)}"
    if not target.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        try:
            build(program, sandbox, target)
        except ServiceFault:
            # If another process built the same bot first, the rename fails.
            if not target.is_dir():
                raise
    return replace(program, folder=target, compile=())


def home_cache() -> Path:
    """Return the folder of the user's own builds."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "torres-ladder" / "builds"


def _digest(program: Program) -> str:
    """Return the SHA-256 of the command and of all files in the folder."""
    digest = hashlib.sha256(repr(program.compile).encode())
    for path in sorted(p for p in program.folder.rglob("*") if p.is_file()):
        content = path.read_bytes()
        name = str(path.relative_to(program.folder))
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _compile(program: Program, sandbox: Sandbox) -> tuple[bytes, str]:
    """Run the compiler; return a tar of the compiled files, and the log."""
    if sandbox.level == "reduced":
        raise SandboxUnavailable(
            "A compiler needs a folder to write to, and the sandbox has none at level"
            " reduced. Run a worker of level full; torres doctor tells you how."
        )
    with contextlib.ExitStack() as stack:
        out = "/out"
        if sandbox.level == "none":
            out = stack.enter_context(tempfile.TemporaryDirectory(prefix="torres-out-"))
        command = [word.replace("{out}", out) for word in program.compile]
        env = {**_ENV, **program.env, "OUT": out}
        if sandbox.level != "none":
            env |= _ENV_SANDBOXED
        compiler_box = replace(
            program,
            argv=("/bin/sh", "-c", _SHELL, "sh", *command),
            env=env,
            compile=(),
            out_mb=OUT_MB,
        )
        compiler = sandbox.start(compiler_box, LIMITS)
        stack.callback(_end, compiler)
        os.close(compiler.stdin)
        return _result(compiler)


def _result(compiler: Running) -> tuple[bytes, str]:
    """Wait for a compiler; return the tar and the log. Raises as ``build`` does."""
    tar, log = _read_output(compiler)
    wait_for_exit(compiler.pid, _EXIT_TIMEOUT_MS)
    over_memory = compiler.over_memory()
    began = compiler.began()
    exit_status = compiler.kill()
    if not began:
        raise ServiceFault(
            f"the sandbox could not start the compiler: {_text(log)[-300:]}"
        )
    if over_memory:
        raise BuildFailed(f"it needed more than {LIMITS.memory_mb} MiB", _text(log))
    if exit_status.code != 0:
        raise BuildFailed(f"the compiler ended with {exit_status}", _text(log))
    return bytes(tar), _text(log)


def _read_output(compiler: Running) -> tuple[bytearray, bytearray]:
    """Read until both pipes close; return the whole stdout and the end of stderr.

    Raises BuildFailed if the output is too large or the compiler needs too much time.
    """
    tar = bytearray()
    log = bytearray()
    buffers = {compiler.stdout: tar, compiler.stderr: log}
    poll = select.poll()
    for fd in buffers:
        poll.register(fd, select.POLLIN)
    deadline = time.monotonic() + 2 * SECONDS
    while buffers:
        for fd, _ in poll.poll(1_000):
            chunk = os.read(fd, _READ_BYTES)
            buffers[fd] += chunk
            if not chunk:
                poll.unregister(fd)
                del buffers[fd]
        del log[: -2 * STDERR_TAIL_BYTES]
        if len(tar) > (OUT_MB + 1) << 20:
            raise BuildFailed(f"it made more than {OUT_MB} MiB", _text(log))
        out_of_time = time.monotonic() > deadline
        if out_of_time or compiler.cpu_ns() > SECONDS * 1_000_000_000:
            raise BuildFailed(f"the compiler needed more than {SECONDS} s", _text(log))
    return tar, log


def _end(compiler: Running) -> None:
    compiler.kill()
    os.close(compiler.stdout)
    os.close(compiler.stderr)


def _text(log: bytearray) -> str:
    return log[-STDERR_TAIL_BYTES:].decode("utf-8", "replace")


def _unpack(tar: bytes, folder: Path, program: str, log: str) -> None:
    """Write the regular files of an untrusted tar into a folder. Or BuildFailed."""
    arguments = {
        "folder": str(folder.absolute()),
        "max_bytes": OUT_MB << 20,
        "program": program,
    }
    with tempfile.TemporaryFile(dir=folder.parent) as packed:
        packed.write(tar)
        packed.seek(0)
        try:
            result = run_limited(
                build_output.unpack_stdin, arguments, packed, _UNPACK_LIMITS
            )
        except LimitExceeded as why:
            raise BuildFailed(
                "its output takes too much time or memory to read", log
            ) from why
    if result["refused"]:
        raise BuildFailed(result["refused"], log)


def _made_program(program: Program) -> str:
    """Return the file that the compiler must make, "" if the language needs several."""
    name = program.argv[0] if program.argv else ""
    return name.removeprefix("./") if name.startswith("./") else ""
