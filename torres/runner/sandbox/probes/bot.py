"""The attempts of the bot that `torres doctor` runs; it prints a JSON line for each.

It runs in the sandbox, which contains nothing else of this project. The arguments are
the worker's process id, a port and a file of the worker, a part of the worker's
environment, and a number of processes above the limit. An attempt raises if it was
stopped; otherwise, it returns what succeeded, or a false value if nothing did.
"""

import ctypes
import json
import os
import signal
import socket
import sys

WORKER, PORT, SECRET, KEY, PROCESSES = sys.argv[1:]
CLONE_NEWUSER = 0x10000000
AF_UNIX = 1
PR_GET_NO_NEW_PRIVS = 39
libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return name


def network():
    with socket.create_connection(("127.0.0.1", int(PORT)), timeout=2):
        return "connected to a service of the host"


def other_sockets():
    families = [f for f in range(1, 46) if f != AF_UNIX]
    return [f for f in families if not refused(lambda f=f: call("socket", f, 3, 0))]


def processes():
    os.kill(int(WORKER), 0)
    return "sent a signal to the worker"


def environment():
    readable = []
    for pid in {"1", "self", str(os.getppid()), WORKER}:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if KEY.encode() in file.read():
                    readable.append(f"/proc/{pid}/environ")
        except OSError:
            continue
    return readable


def host_files():
    with open(SECRET, "rb") as file:
        return file.read().decode()


def system_files():
    paths = ("/usr/bin/x", "/etc/x", "/x", os.path.join(os.getcwd(), "x"))
    return [p for p in paths if not refused(lambda p=p: open(p, "w").close())]


def privileges():
    capabilities = (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    call("capget", header, capabilities)
    if any(capabilities):
        return "capabilities " + " ".join(map(hex, capabilities))
    no_new_privs = libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1
    return None if no_new_privs else "set-uid programs work"


def namespaces():
    return call("unshare", CLONE_NEWUSER)


def system_calls():
    calls = {
        "ptrace": (0, 0, 0, 0),
        "mount": (b"t", b"/tmp", b"tmpfs", 0, None),
        "shmget": (77, 4096, 0o1666),
        "personality": (0x0040000,),
        "sched_setaffinity": (0, 8, b"\1" + bytes(7)),
    }
    return [n for n, a in calls.items() if not refused(lambda n=n, a=a: call(n, *a))]


def process_limit():
    children = []
    try:
        while len(children) <= int(PROCESSES):
            pid = os.fork()
            if not pid:
                signal.pause()
            children.append(pid)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return f"{len(children)} processes"


def refused(attempt):
    try:
        attempt()
    except OSError:
        return True
    return False


for attempt in (
    network,
    other_sockets,
    processes,
    environment,
    host_files,
    system_files,
    privileges,
    namespaces,
    system_calls,
    process_limit,
):
    try:
        success = attempt()
        report = {"held": not success, "how": str(success or "nothing succeeded")}
    except (OSError, ValueError) as why:
        report = {"held": True, "how": str(why)}
    print(json.dumps({"name": attempt.__name__, **report}), flush=True)
