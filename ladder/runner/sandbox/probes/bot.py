"""What `torres doctor` lets a bot try: one line of JSON for each attempt.

Runs in the sandbox, where nothing else of this project is. Arguments: the worker's
process id, a port and a file of the worker, a part of its environment, and how many
processes are too many. Each attempt returns what came through, or raises.
"""

import ctypes
import json
import os
import signal
import socket
import sys

WORKER, PORT, SECRET, KEY, PROCESSES = sys.argv[1:]
NEW_USER = 0x10000000
UNIX, VSOCK = 1, 40
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
    families = [f for f in range(1, 46) if f != UNIX]
    return [f for f in families if not refused(lambda f=f: call("socket", f, 3, 0))]


def processes():
    os.kill(int(WORKER), 0)
    return "the worker could be signalled"


def environment():
    found = []
    for pid in {"1", "self", str(os.getppid()), WORKER}:
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                if KEY.encode() in file.read():
                    found.append(f"/proc/{pid}/environ")
        except OSError:
            continue
    return found


def host_files():
    with open(SECRET, "rb") as file:
        return file.read().decode()


def system_files():
    places = ("/usr/bin/x", "/etc/x", "/x", os.path.join(os.getcwd(), "x"))
    return [p for p in places if not refused(lambda p=p: open(p, "w").close())]


def privileges():
    had = (ctypes.c_uint32 * 6)()
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    call("capget", header, had)
    if any(had):
        return "capabilities " + " ".join(map(hex, had))
    return None if libc.prctl(39, 0, 0, 0, 0) == 1 else "set-uid programs work"


def namespaces():
    return call("unshare", NEW_USER)


def system_calls():
    tried = {
        "ptrace": (0, 0, 0, 0),
        "mount": (b"t", b"/tmp", b"tmpfs", 0, None),
        "shmget": (77, 4096, 0o1666),
        "personality": (0x0040000,),
        "sched_setaffinity": (0, 8, b"\1" + bytes(7)),
    }
    return [n for n, a in tried.items() if not refused(lambda n=n, a=a: call(n, *a))]


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
        through = attempt()
        report = {"held": not through, "how": str(through or "nothing came through")}
    except (OSError, ValueError) as why:
        report = {"held": True, "how": str(why)}
    print(json.dumps({"name": attempt.__name__, **report}), flush=True)
