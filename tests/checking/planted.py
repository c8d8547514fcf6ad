"""Bots with one planted mistake each, and the finding that has to name it.

`BOT` is a good bot with three places for a mistake: at its head, when it greets, and
when it answers.
"""

from dataclasses import dataclass, field

BOT = """\
import json
import sys
HEAD
seats = 0
count = 0
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        seats = message["seats"]
        ruleset = message["ruleset"]
        HELLO
        print('{"type":"ready"}', flush=True)
    elif message["type"] == "decide":
        count += 1
        state = message["state"]
        legal = message["legal"]
        action = next((a for a in legal if not a.startswith("end")), legal[0])
        answer = json.dumps({"actions": [action]})
        DECIDE
        print(answer, flush=True)
    elif message["type"] == "end":
        END
"""


@dataclass(frozen=True)
class Planted:
    """A bot with a mistake: its files, and the code of the finding."""

    name: str
    code: str
    files: dict[str, str | bytes] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


def bot(head: str = "", hello: str = "", decide: str = "", end: str = "break") -> str:
    """Return the good bot with lines of a mistake in it."""
    parts = {"HEAD": head, "HELLO": hello, "DECIDE": decide, "END": end}
    source = BOT
    for place, lines in parts.items():
        indent = " " * (0 if place == "HEAD" else 8)
        source = source.replace(
            f"{indent}{place}\n",
            "".join(f"{indent}{line}\n" for line in (lines or "pass").splitlines()),
        )
    return source


def python(name: str, code: str, **places: str) -> Planted:
    """Return a bot in Python with a mistake."""
    return Planted(name, code, {"bot.py": bot(**places)})


BUFFERED = "sys.stdout = open(1, 'w', buffering=65536)"
UNFLUSHED = bot(head=BUFFERED).replace(", flush=True", "")
NEVER_ENDS = "import threading\nthreading.Thread(target=threading.Event().wait).start()"
LEAK = "import os\nkept = []"

PLANTED = [
    # it does not start
    Planted("no main file", "no-entry", {"main.py": bot(), "util.py": ""}),
    Planted("syntax error", "syntax-error", {"bot.py": bot() + "\ndef (:\n"}),
    python("missing import", "missing-import", head="import no_such_module_at_all"),
    Planted("source in UTF-16", "source-encoding", {"bot.py": bot().encode("utf-16")}),
    Planted("source in Latin-1", "source-encoding", {"bot.py": b"# caf\xe9\n"}),
    Planted(
        "module in UTF-16",
        "source-encoding",
        {"bot.py": bot(head="import util"), "util.py": "x = 1".encode("utf-16-le")},
    ),
    Planted(
        "Java with a byte order mark",
        "source-encoding",
        {"bot.java": b"\xef\xbb\xbfclass bot {}"},
    ),
    Planted(
        "manifest with a byte order mark",
        "no-entry",
        {"bot.toml": b"\xef\xbb\xbflanguage = 'python'"},
    ),
    Planted("script without #!", "no-shebang", {"bot": "import sys\n"}),
    Planted(
        "byte order mark before #!",
        "source-encoding",
        {"bot": b"\xef\xbb\xbf#!/usr/bin/python3\n"},
    ),
    Planted(
        "missing interpreter",
        "missing-interpreter",
        {"bot": "#!/usr/bin/no-such-lua\nprint('x')\n"},
    ),
    Planted("CRLF in #!", "crlf", {"bot": b"#!/usr/bin/python3\r\nimport sys\r\n"}),
    Planted("does not compile", "does-not-compile", {"bot.c": "int main( {}\n"}),
    python("crashes at its start", "crash", head="raise SystemExit('no luck')"),
    python(
        "starts slowly",
        "slow-start",
        head="import time\nwhile time.process_time() < 5: pass",
    ),
    python("sleeps at its start", "never-reads", head="import time\ntime.sleep(5)"),
    Planted(
        "never says ready",
        "never-ready",
        {"bot.py": "import sys\nfor line in sys.stdin: pass\n"},
    ),
    python(
        "needs the network",
        "needs-network",
        head="from urllib.request import urlopen\nurlopen('http://bots.invalid/')",
    ),
    # it breaks the protocol
    Planted("does not flush", "no-flush", {"bot.py": UNFLUSHED}),
    python("prints to stdout", "prints-text", decide="print('thinking', flush=True)"),
    python(
        "prints a Python dict", "python-dict", decide="answer = {'actions': [action]}"
    ),
    python("malformed JSON", "malformed-json", decide="answer = answer[:-1]"),
    python("prints the bare action", "malformed-json", decide="answer = action"),
    python("wrong key", "wrong-key", decide="answer = json.dumps({'action': action})"),
    python(
        "index too large",
        "wrong-index",
        decide="answer = json.dumps({'index': len(legal)})",
    ),
    python("negative index", "negative-index", decide="answer = '{\"index\": -1}'"),
    python(
        "both keys",
        "two-answers-in-one",
        decide="answer = json.dumps({'actions': [action], 'index': 0})",
    ),
    python(
        "no newline",
        "no-newline",
        decide="sys.stdout.write(answer); sys.stdout.flush(); continue",
    ),
    # In one write, or the second answer may come after the next question.
    python("answers twice", "answers-twice", decide='answer += "\\n" + answer'),
    python(
        "answers before it is asked",
        "answers-early",
        head='print(\'{"type":"ready"}\\n{"index": 0}\', flush=True)',
    ),
    python(
        "prints what is not UTF-8",
        "not-utf-8",
        decide='sys.stdout.buffer.write(b\'{"index":0,"note":"\\xff"}\\n\')',
    ),
    python(
        "writes a byte order mark",
        "output-byte-order-mark",
        decide="answer = '\ufeff' + answer",
    ),
    python(
        "writes UTF-16",
        "output-utf-16",
        decide="sys.stdout.buffer.write((answer + '\\n').encode('utf-16-le'))\n"
        "sys.stdout.flush()",
    ),
    python("a line too long", "floods-stdout", decide="answer += ' ' * 70000"),
    python("floods stderr", "floods-stderr", decide="sys.stderr.write('x' * 100_000)"),
    # it breaks the rules
    python(
        "illegal action", "illegal-action", decide='answer = \'{"actions":["fly"]}\''
    ),
    python(
        "continues after buy",
        "continues-after-buy",
        decide='if \'buy\' in legal: answer = \'{"actions":["buy","end"]}\'',
    ),
    python(
        "goes on after end",
        "goes-beyond-turn",
        decide='if \'end\' in legal: answer = \'{"actions":["end","end"]}\'',
    ),
    python(
        "ignores the decision",
        "ignores-decision",
        decide="if count > 3 and message['decision'] != 'turn':\n"
        '    answer = \'{"actions":["end"]}\'',
    ),
    # it is too slow or too large
    python(
        "thinks too long",
        "thinks-too-long",
        head="import time",
        decide="ends = time.process_time() + 3\nwhile time.process_time() < ends: pass",
    ),
    python("never answers", "never-answers", decide="__import__('time').sleep(9)"),
    python(
        "sleeps before each answer",
        "too-slow",
        decide="__import__('time').sleep(0.4)",
    ),
    python(
        "stops answering",
        "stops-answering",
        decide="if count == 5: __import__('time').sleep(9)",
    ),
    python("uses too much memory", "memory", hello="block = bytearray(400 << 20)"),
    python(
        "leaks memory",
        "memory-grows",
        head=LEAK,
        decide="kept.append(os.urandom(1 << 20))",
    ),
    python(
        "starts too many threads",
        "too-many-processes",
        head="import threading",
        hello="gate = threading.Event()\n"
        "for _ in range(100):\n"
        "    threading.Thread(target=gate.wait, daemon=True).start()",
    ),
    # it ends too early or too late
    python("exits after an answer", "exits-early", decide="if count == 5: break"),
    python(
        "closes stdout",
        "closes-stdout",
        decide="import os, time; os.close(1); time.sleep(9)",
    ),
    python(
        "segmentation fault", "segfault", decide="import ctypes; ctypes.string_at(0)"
    ),
    Planted(
        "ignores end",
        "ignores-end",
        {"bot.py": bot(head=NEVER_ENDS, end="__import__('time').sleep(9)")},
    ),
    python("fails at the end", "fails-at-end", end="raise ValueError('late')"),
    # it plays some games only
    python(
        "depends on two seats",
        "depends-on-seats",
        decide="mine, other = state['scores']",
    ),
    python(
        "crashes at four seats",
        "depends-on-seats",
        decide="colour = ['red', 'green', 'blue'][seats - 2 + (seats == 4)]",
    ),
    python(
        "depends on one ruleset",
        "depends-on-ruleset",
        hello="card_decks = {'yucata': 2}[ruleset]",
    ),
    python(
        "writes to its folder",
        "writes-folder",
        hello="open('games.log', 'a').write('x')",
    ),
    # warnings
    python(
        "is not repeatable",
        "not-repeatable",
        head="import random",
        decide="answer = json.dumps({'actions': [random.choice(legal)]})",
    ),
    Planted(
        "has a requirements.txt",
        "unread-requirements",
        {"bot.py": bot(), "requirements.txt": "numpy\n"},
    ),
    python(
        "reads the wall clock",
        "wall-clock",
        head="import time",
        decide="begun = time.perf_counter()",
    ),
    python(
        "uses the network",
        "uses-network",
        head="import socket",
        decide="name = socket.AF_INET",
    ),
]
