"""The table of causes: which mistake explains why a bot lost its seat.

The rows are tried in their order, and the first that fits is the explanation. A row
reads the verdict of the runner: what the bot was sent, what it wrote, how it ended, and
the state of its clock. Texts of errors come from the common language runtimes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from engine.faults import Fault
from engine.moves import Decision
from torres.checking.findings import Finding, fault
from torres.common.text_encoding import UTF_8_MARK, foreign_encoding
from torres.runner.protocol import SHOWN_STDERR_BYTES
from torres.runner.verdict import Verdict

LOG_LESS = (
    "Log less: a ladder shows you the beginning and the end of what a bot writes in a"
    f" game, together {SHOWN_STDERR_BYTES >> 10} KiB."
)

_ANSWER_WORDS = frozenset(
    {"add", "block", "buy", "end", "enter", "first", "found"}
    | {"keep", "king", "move", "play", "score", "stack", "stock"}
)
_FIRST_WORDS = {
    Decision.FOUND: {"found"},
    Decision.ENTER: {"enter"},
    Decision.KING: {"king"},
    Decision.FIRST: {"first"},
    Decision.STOCK: {"stock"},
    Decision.KEEP: {"keep"},
}
"""The first words of the actions that fit a decision, except for a turn."""


@dataclass(frozen=True, slots=True)
class FaultEvidence:
    """A verdict with its texts decoded.

    ``answers`` counts the answers before it, and ``slowest_ms`` is the charge of the
    slowest of them.
    """

    verdict: Verdict
    answers: int
    slowest_ms: float = 0.0

    @property
    def stderr(self) -> str:
        return self.verdict.stderr.decode("utf-8", "replace")

    @property
    def received(self) -> str:
        return self.verdict.received.decode("utf-8", "replace").strip()

    def faulted(self, reason: Fault) -> bool:
        return self.verdict.reason == reason

    def said(self, pattern: str) -> bool:
        """True if a line of the error output matches the pattern."""
        return re.search(pattern, self.stderr, re.MULTILINE) is not None

    @property
    def starting(self) -> bool:
        return self.verdict.decision is None

    @property
    def computed(self) -> bool:
        """True if at least half of the charged time was CPU time."""
        charge = self.verdict.charge
        return charge is not None and charge.cpu_ms * 2 >= charge.ms

    @property
    def output_encoding(self) -> str | None:
        """The encoding of a refused line, if it is not plain UTF-8."""
        if not self.faulted(Fault.PROTOCOL):
            return None
        return foreign_encoding(self.verdict.received)

    @property
    def was_slow(self) -> bool:
        """True if an earlier answer used more than its share and lived on the bank."""
        return self.slowest_ms > self.verdict.move_ms

    @property
    def action(self) -> str:
        """The action that was refused, from the detail of the fault; "" if unknown."""
        return self.verdict.detail.partition(":")[0].strip("'\"")


Matches = Callable[[FaultEvidence], bool]


@dataclass(frozen=True, slots=True)
class Cause:
    """One row: a name, a condition, and a sentence each for the cause and the cure."""

    code: str
    matches: Matches
    cause: str
    cure: str


def _crashed_saying(pattern: str) -> Matches:
    """Match a bot that ended, or stopped answering, and printed such an error."""
    return lambda e: not e.faulted(Fault.ILLEGAL_ACTION) and e.said(pattern)


def _wrote(text: str) -> Matches:
    """Match a protocol fault whose detail holds a text."""
    return lambda e: e.faulted(Fault.PROTOCOL) and text in e.verdict.detail


def _is_early(e: FaultEvidence) -> bool:
    return _wrote("before the question")(e) or _wrote("before it had read")(e)


def _looks_like_answer(text: str) -> bool:
    return text.startswith("{") and ('"actions"' in text or '"index"' in text)


def _fits_no_decision(e: FaultEvidence) -> bool:
    decision = e.verdict.decision
    words = _FIRST_WORDS.get(Decision(decision)) if decision else None
    first = e.action.partition(" ")[0]
    others = _ANSWER_WORDS - words if words else frozenset()
    return e.faulted(Fault.ILLEGAL_ACTION) and first in others


def _timed_out(*, computed: bool, starting: bool) -> Matches:
    return lambda e: (
        e.faulted(Fault.TIMEOUT) and e.computed == computed and e.starting == starting
    )


_NETWORK = (
    r"Network is unreachable|Name or service not known|ENETUNREACH|ECONNREFUSED"
    r"|ENOTFOUND|EAI_AGAIN|name resolution|getaddrinfo|Connection refused"
    r"|UnknownHostException|no such host|URLError|ConnectionError"
)
_READ_ONLY = r"Read-only file system|EROFS|ReadOnlyFileSystemException"
_THREADS = (
    r"can't start new thread|Resource temporarily unavailable|EAGAIN"
    r"|unable to create (native )?thread|pthread_create|[Ff]ork failed"
)
_MEMORY = (
    r"^MemoryError|heap out of memory|OutOfMemoryError|std::bad_alloc"
    r"|Cannot allocate memory|memory allocation of"
)
_IMPORT = (
    r"ModuleNotFoundError|^ImportError|Cannot find module|ERR_MODULE_NOT_FOUND"
    r"|Can't locate \S+ in @INC|NoClassDefFoundError|ClassNotFoundException"
    r"|error while loading shared libraries"
)
_SYNTAX = r"^\s*(SyntaxError|IndentationError|TabError)\b|[Ss]yntax error"

_ENCODING = r"Non-UTF-8 code starting|null bytes|unknown encoding"

CAUSES = (
    Cause(
        "source-encoding",
        lambda e: e.starting and _crashed_saying(_ENCODING)(e),
        "A source file is not UTF-8.",
        "Save it as UTF-8, or declare its encoding in its first line.",
    ),
    Cause(
        "syntax-error",
        lambda e: e.starting and _crashed_saying(_SYNTAX)(e),
        "The program is not valid source code.",
        "Correct the line that the error output names.",
    ),
    Cause(
        "missing-import",
        _crashed_saying(_IMPORT),
        "It imports a module or a library that is not installed.",
        "Use the standard library, or put the module's files into the upload.",
    ),
    Cause(
        "needs-network",
        _crashed_saying(_NETWORK),
        "It needs the network, and bots have none.",
        "Put what it loads into the upload.",
    ),
    Cause(
        "writes-folder",
        _crashed_saying(_READ_ONLY),
        "It writes to its own folder, which is read-only on the ladder.",
        "Write to /tmp, which is empty in each game, or do not write at all.",
    ),
    Cause(
        "too-many-processes",
        _crashed_saying(_THREADS),
        "It starts more processes and threads than it may have.",
        "Start fewer: the limit `pids` in hello counts processes and threads together.",
    ),
    Cause(
        "memory",
        lambda e: e.faulted(Fault.MEMORY) or _crashed_saying(_MEMORY)(e),
        "It uses more memory than it may have.",
        "Keep less: the limit is `memory_mb` in hello, and files in /tmp count, too.",
    ),
    Cause(
        "closes-stdout",
        lambda e: e.faulted(Fault.CRASH) and "closed its stdout" in e.verdict.detail,
        "It closed its stdout while the game was running.",
        "Keep stdout open until the message end has come.",
    ),
    Cause(
        "segfault",
        lambda e: (
            e.faulted(Fault.CRASH)
            and e.verdict.exit is not None
            and e.verdict.exit.signal is not None
        ),
        "The operating system ended it because of a fault such as a bad pointer.",
        "Build it with a sanitizer, for example -fsanitize=address, and play again.",
    ),
    Cause(
        "exits-early",
        lambda e: (
            e.faulted(Fault.CRASH)
            and e.verdict.exit is not None
            and e.verdict.exit.code == 0
        ),
        "It ended without an error while the game was running.",
        "Read messages in a loop until stdin ends; one answer is not the whole game.",
    ),
    Cause(
        "crash",
        lambda e: e.faulted(Fault.CRASH),
        "It ended with an error.",
        "The end of its error output names the place.",
    ),
    Cause(
        "no-newline",
        lambda e: e.faulted(Fault.TIMEOUT) and bool(e.received),
        "It wrote an answer without a line end.",
        "End each answer with one newline.",
    ),
    Cause(
        "too-slow",
        lambda e: e.was_slow and _timed_out(computed=False, starting=False)(e),
        "It took longer for each answer than its clock gives back, until its bank was"
        " empty, and it did not compute in that time.",
        "Answer within `move_ms`, and do not sleep or wait: both count as thinking.",
    ),
    Cause(
        "no-flush",
        lambda e: e.faulted(Fault.TIMEOUT) and bool(e.verdict.late),
        "Its answer stayed in a buffer until its stdin was closed.",
        "Did you flush? Flush stdout after each answer.",
    ),
    Cause(
        "slow-start",
        _timed_out(computed=True, starting=True),
        "It computes for too long before it says that it is ready.",
        "Answer hello first and prepare later, or compute tables before you upload.",
    ),
    Cause(
        "never-reads",
        lambda e: e.faulted(Fault.TIMEOUT) and e.verdict.unread > 1,
        "It slept or waited, and had not read the message when its time was up.",
        "Read stdin at once: sleeping counts as thinking.",
    ),
    Cause(
        "never-ready",
        _timed_out(computed=False, starting=True),
        "It read hello and never answered it.",
        'Answer with {"type":"ready"}, and flush.',
    ),
    Cause(
        "thinks-too-long",
        _timed_out(computed=True, starting=False),
        "It computed until its clock ran out.",
        "Stop thinking by `clock` in the message: `move_ms` comes back, `bank_ms` not.",
    ),
    Cause(
        "never-answers",
        lambda e: e.faulted(Fault.TIMEOUT) and not e.answers,
        "It read the question and then slept or waited until its clock ran out.",
        "Answer every message decide with one line, and flush; sleeping is thinking.",
    ),
    Cause(
        "stops-answering",
        lambda e: e.faulted(Fault.TIMEOUT),
        "It answered before, and now slept or waited until its clock ran out.",
        "Look at the decision that it was asked for, and answer every one.",
    ),
    Cause(
        "output-byte-order-mark",
        lambda e: e.output_encoding == UTF_8_MARK,
        "It writes a byte order mark before its answer.",
        "Encode stdout as UTF-8 without a byte order mark.",
    ),
    Cause(
        "output-utf-16",
        lambda e: e.output_encoding is not None,
        "It writes UTF-16 or UTF-32, with two or four bytes for each character.",
        "Encode stdout as UTF-8 without a byte order mark.",
    ),
    Cause(
        "not-utf-8",
        _wrote("invalid UTF-8"),
        "It wrote a line that is not UTF-8.",
        "Encode stdout as UTF-8, or write ASCII only.",
    ),
    Cause(
        "answers-early",
        lambda e: _is_early(e) and e.answers == 0,
        "It answered before it was asked.",
        "Write one line for each decide, and only after you have read it.",
    ),
    Cause(
        "answers-twice",
        lambda e: _is_early(e) and _looks_like_answer(e.received),
        "It wrote a second answer to one question.",
        "Write exactly one line for each decide; a line may hold a whole turn.",
    ),
    Cause(
        "prints-text",
        lambda e: e.faulted(Fault.PROTOCOL) and _is_text(e.received),
        "It printed text to stdout that is no message.",
        "Print what you want to log to stderr: only answers go to stdout.",
    ),
    Cause(
        "python-dict",
        lambda e: e.faulted(Fault.PROTOCOL) and e.received.startswith("{'"),
        "It printed an object of Python or JavaScript and not JSON.",
        "Write json.dumps(answer), or JSON.stringify(answer).",
    ),
    Cause(
        "wrong-index",
        lambda e: (
            e.faulted(Fault.PROTOCOL) and "legal actions (0 is" in e.verdict.detail
        ),
        "Its index is outside of the list of legal actions.",
        "Count from 0: the last index is the number of legal actions minus 1.",
    ),
    Cause(
        "negative-index",
        _wrote("`$.index`"),
        "Its index is not a whole number from 0.",
        "Count the legal actions from 0, and send a whole number.",
    ),
    Cause(
        "two-answers-in-one",
        lambda e: _wrote("both ")(e) or _wrote("a key twice")(e),
        "Its answer has both actions and index, or a key twice.",
        "Send one of the two keys, once.",
    ),
    Cause(
        "wrong-key",
        lambda e: _wrote("neither ")(e) or _wrote("expected ")(e),
        "Its line is JSON, but it has none of the keys that an answer needs.",
        'Answer hello with {"type":"ready"}, decide with {"actions":["…"]}.',
    ),
    Cause(
        "malformed-json",
        lambda e: e.faulted(Fault.PROTOCOL),
        "It wrote a line that is not the JSON of an answer.",
        'Write one JSON object a line with a library, such as {"actions":["end"]}.',
    ),
    Cause(
        "continues-after-buy",
        lambda e: e.faulted(Fault.ILLEGAL_ACTION) and "follow buy" in e.verdict.detail,
        "It named actions after buy in the same answer.",
        "Let buy be the last action: you are asked again when the cards are drawn.",
    ),
    Cause(
        "goes-beyond-turn",
        lambda e: (
            e.faulted(Fault.ILLEGAL_ACTION) and "turn is over" in e.verdict.detail
        ),
        "It named actions after the end of its turn.",
        "Let end be the last action of an answer.",
    ),
    Cause(
        "ignores-decision",
        _fits_no_decision,
        "It answered another decision than it was asked for.",
        "Look at `decision`: besides turn there are found, enter, king, first, stock"
        " and keep. One of `legal` is always right.",
    ),
    Cause(
        "plays-fresh-card",
        lambda e: e.faulted(Fault.ILLEGAL_ACTION) and "rule 49" in e.verdict.detail,
        "It played a card in the turn in which it bought it.",
        "Leave out the cards in `fresh` of the state until your next turn.",
    ),
    Cause(
        "illegal-action",
        lambda e: e.faulted(Fault.ILLEGAL_ACTION),
        "It played an action that is not legal then.",
        "Choose from `legal`; after each action of your own the list is a new one.",
    ),
    Cause(
        "floods-stderr",
        lambda e: e.faulted(Fault.OUTPUT) and "stderr" in e.verdict.detail,
        "It wrote more to stderr than it may.",
        LOG_LESS,
    ),
    Cause(
        "floods-stdout",
        lambda e: e.faulted(Fault.OUTPUT),
        "It wrote a line that is too long, or too much in all.",
        "The limits are `line_bytes` and `output_bytes` in hello.",
    ),
)


def _is_text(text: str) -> bool:
    """True if a line is words and no attempt at JSON."""
    if not text or text[0] in '{["':
        return False
    return text.split(maxsplit=1)[0] not in _ANSWER_WORDS


def find_cause(evidence: FaultEvidence) -> Cause:
    """Return the first row that fits. The table covers every fault."""
    return next(row for row in CAUSES if row.matches(evidence))


def known_fault(code: str, evidence: str) -> Finding:
    """Return the finding of the row with this code, which was seen in another way."""
    row = next(row for row in CAUSES if row.code == code)
    return fault(code, row.cause, row.cure, evidence)
