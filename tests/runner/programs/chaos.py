"""Plays legal actions most of the time, and misbehaves in some other way now and then.

The seed of the hello decides everything, so that a game can be repeated. What the bot
is about to do goes to its stderr, which the test prints if it fails.
"""

import contextlib
import fcntl
import json
import os
import random
import signal
import sys
import threading
import time

F_SETPIPE_SZ = 1031


def write(data, fd=1):
    while data:
        data = data[os.write(fd, data) :]


def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def child(act):
    """Run a function in a child process, which then ends without a word."""
    pid = os.fork()
    if pid == 0:
        with contextlib.suppress(BaseException):
            act()
        os._exit(0)
    return pid


# --- what the bot does before a legal answer


def short_children():
    for _ in range(20):
        os.waitpid(child(lambda: burn(0.001)), 0)


def zombies():
    for _ in range(10):
        child(lambda: None)


def holding_child():
    child(lambda: time.sleep(60))


def spinning_child():
    child(lambda: burn(60))


def grandchild():
    child(lambda: (os.setsid(), child(lambda: time.sleep(60))))


def fork_until_refused():
    with contextlib.suppress(OSError):
        while True:
            child(lambda: time.sleep(60))


def threads():
    for _ in range(8):
        threading.Thread(target=burn, args=(0.01,), daemon=True).start()


def threads_until_refused():
    with contextlib.suppress(RuntimeError):
        while True:
            threading.Thread(target=time.sleep, args=(60,), daemon=True).start()


def descriptors_until_refused():
    with contextlib.suppress(OSError):
        while True:
            os.pipe()


def nap():
    time.sleep(0.05)


def sleep():
    time.sleep(60)


def hunger():
    hoard = []
    while True:
        hoard.append(b"x" * (1 << 20))


def hungry_children():
    for _ in range(4):
        child(hunger)
    time.sleep(0.1)


def words_on_stderr():
    write(b"\x00\xff\x1b[2J" * 50_000, 2)


def flood_stderr():
    while True:
        write(b"\x00" * 65_536, 2)


def close_stdin():
    os.close(0)


def close_stdout():
    os.close(1)


def close_stderr():
    os.close(2)


def close_all():
    os.closerange(0, 1024)


def small_pipes():
    for fd in range(3):
        with contextlib.suppress(OSError):
            fcntl.fcntl(fd, F_SETPIPE_SZ, 4096)


def blocking_is_over():
    for fd in range(3):
        os.set_blocking(fd, False)


def steal_the_other_ends():
    """Open the pipes again by their names, in the other direction."""
    for fd, mode in ((0, os.O_WRONLY), (1, os.O_RDONLY), (2, os.O_RDONLY)):
        with contextlib.suppress(OSError):
            os.open(f"/proc/self/fd/{fd}", mode | os.O_NONBLOCK)


def answer_late():
    """Answer again from a child, at some moment after the answer."""
    child(lambda: (time.sleep(0.02), write(b'{"index":0}\n')))


def signal_itself(number):
    return lambda: os.kill(os.getpid(), number)


BEFORE = {
    act.__name__: act
    for act in (
        *(short_children, zombies, holding_child, spinning_child, grandchild),
        *(fork_until_refused, threads, threads_until_refused),
        *(descriptors_until_refused, nap, sleep, hunger, hungry_children),
        *(words_on_stderr, flood_stderr, close_stdin, close_stdout, close_stderr),
        *(close_all, small_pipes, blocking_is_over, steal_the_other_ends, answer_late),
    )
} | {
    name: signal_itself(getattr(signal, name))
    for name in ("SIGSTOP", "SIGSEGV", "SIGABRT", "SIGKILL", "SIGTERM", "SIGPIPE")
}

# --- what the bot writes instead of a legal answer; LEGAL stands for a legal action

INSTEAD = {
    "half a line": b'{"index":',
    "nothing but a newline": b"\n",
    "many newlines": b"\n" * 5_000,
    "the answer twice": b'{"actions":["LEGAL"]}\n' * 2,
    "an answer and a half": b'{"actions":["LEGAL"]}\n{"ind',
    "a thousand answers": b'{"index":0}\n' * 1_000,
    "flood of lines": b'{"type":"chatter"}\n' * 100_000,
    "flood without a newline": b"x" * 3_000_000,
    "NUL": b'{"index":0}\x00\n',
    "NUL in an action": b'{"actions":["LEGAL\\u0000"]}\n',
    "nothing but NUL": b"\x00" * 60_000 + b"\n",
    "invalid UTF-8": b'{"actions":["\xff\xfe\xed\xa0\x80"]}\n',
    "lone surrogate": b'{"actions":["\\ud800"]}\n',
    "byte order mark": b'\xef\xbb\xbf{"index":0}\n',
    "carriage return": b'{"actions":["LEGAL"]}\r\n',
    "deep lists": b"[" * 60_000 + b"\n",
    "deep actions": b'{"actions":' + b"[" * 30_000 + b"]" * 30_000 + b"}\n",
    "deep note": b'{"index":0,"note":' + b'{"a":' * 9_000 + b"0" + b"}" * 9_001 + b"\n",
    "huge integer": b'{"index":' + b"9" * 60_000 + b"}\n",
    "huge exponent": b'{"index":1e999999999}\n',
    "negative index": b'{"index":-1}\n',
    "large index": b'{"index":9223372036854775807}\n',
    "not a number": b'{"index":NaN}\n',
    "boolean": b'{"index":true}\n',
    "null": b"null\n",
    "no object": b"[]\n",
    "a string": b'"LEGAL"\n',
    "actions of another type": b'{"actions":"LEGAL"}\n',
    "no action": b'{"actions":[]}\n',
    "key twice": b'{"index":0,"index":1}\n',
    "another message": b'{"type":"end","scores":[99],"ranks":[1]}\n',
    "one action of 60 KB": b'{"actions":["' + "é".encode() * 30_000 + b'"]}\n',
    "one action of 60 KB in ASCII": b'{"actions":["' + b"a" * 60_000 + b'"]}\n',
    "60 KB of actions": b'{"actions":[' + b'"LEGAL",' * 3_000 + b'"LEGAL"]}\n',
    "60 KB of escapes": b'{"actions":["' + b"\\u0000" * 10_000 + b'"]}\n',
    "note of 60 KB": b'{"index":0,"note":"' + "é".encode() * 30_000 + b'"}\n',
    "line over 64 KiB": b'{"actions":["' + b"a" * 70_000 + b'"]}\n',
}
READY = {
    "twice": b'{"type":"ready"}\n' * 2,
    "and an answer": b'{"type":"ready"}\n{"index":0}\n',
    "half": b'{"type":"ready"',
    "not JSON": b"ready\n",
    "60 KB": b'{"type":"ready","name":"' + "é".encode() * 30_000 + b'"}\n',
}


def say(word):
    with contextlib.suppress(OSError):
        write(f"chaos: {word}\n".encode(), 2)


def greet(rng):
    if rng.random() < 0.05:
        name = rng.choice(sorted(READY))
        say(f"ready: {name}")
        write(READY[name])
    else:
        write(b'{"type":"ready"}\n')


def in_bytes(data, rng):
    """Write an answer in pieces, with short pauses between some of them."""
    while data:
        size = rng.choice((1, 1, 3, 1_000))
        write(data[:size])
        data = data[size:]
        if rng.random() < 0.1:
            time.sleep(0.001)


def decide(message, rng, rate):
    legal = rng.choice(message["legal"])
    answer = json.dumps({"actions": [legal]}).encode() + b"\n"
    dice = rng.random()
    if dice < rate / 2:
        name = rng.choice(sorted(INSTEAD))
        say(f"at ply {message['ply']} instead: {name}")
        write(INSTEAD[name].replace(b"LEGAL", legal.encode()))
    elif dice < rate:
        name = rng.choice(sorted(BEFORE))
        say(f"at ply {message['ply']} before: {name}")
        BEFORE[name]()
        write(answer)
    elif dice < rate * 1.5:
        in_bytes(answer, rng)
    else:
        write(answer)


def linger(rng):
    """Do not end, although the game has ended."""
    name = rng.choice(("sleep", "flood", "spin", "children", "exit"))
    say(f"at the end: {name}")
    if name == "sleep":
        time.sleep(60)
    elif name == "flood":
        while True:
            write(b"x" * 4096)
    elif name == "spin":
        burn(60)
    elif name == "children":
        fork_until_refused()
        time.sleep(60)


for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
rng = random.Random(0)
rate = 0.0
for line in sys.stdin.buffer:
    message = json.loads(line)
    if message["type"] == "hello":
        rng = random.Random(message["seed"])
        # Patient bots reach the end of the game, impatient ones fail at its start.
        rate = rng.choice((0.0, 0.01, 0.03, 0.1))
        greet(rng)
    elif message["type"] == "decide":
        decide(message, rng, rate)
    elif message["type"] in {"end", "forfeit"} and rng.random() < 0.5:
        linger(rng)
