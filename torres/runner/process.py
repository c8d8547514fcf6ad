"""One bot as a process: the referee's ``Player``, over pipes and in a sandbox.

It decides when a bot has broken the rules of conduct, and records the evidence for the
bot's owner. It does not know the game. The package's README has the steps of a bot's
life from ``start`` to ``kill``.
"""

import math
import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Lock, get_ident
from typing import BinaryIO, Literal

from engine.faults import Fault
from engine.referee import (
    Answer,
    Ask,
    Hello,
    PlayerFault,
    ServiceFault,
    serving,
)
from torres.runner import protocol
from torres.runner.clock import Charge, Stopwatch
from torres.runner.connection import BotPipes, wait_for_exit
from torres.runner.lines import StdoutClosed
from torres.runner.protocol import MAX_LINE_BYTES, Limits, Ready, Reply
from torres.runner.sandbox.api import Exit, Program, Running, Sandbox
from torres.runner.thoughts import MAX_SAID_CHARS, Thought
from torres.runner.verdict import BotEnding, BotStart, Usage, Verdict

Direction = Literal["sent", "received"]
ProtocolLog = Callable[[Direction, int, bytes], None]
"""Called for each raw line: the direction, the seat, and the line without newline."""

_CPUS = os.cpu_count() or 1
_MESSAGE_REASONS = frozenset(
    {Fault.PROTOCOL, Fault.ILLEGAL_ACTION, Fault.TIMEOUT, Fault.OUTPUT}
)
"""A bot that forfeits for one of these is told so. Otherwise it is killed at once."""
_END_TIMEOUT_MS = 1_000  # for a bot to exit after the result
_FORFEIT_TIMEOUT_MS = 500  # for a bot to exit after it was told that it forfeits
_EXIT_TIMEOUT_MS = 500  # for a bot to exit after it closed its stdout
_NOT_FLUSHED = (
    "; it wrote an answer only when its stdin was closed, so it does not flush its"
    " output"
)
_STARVATION_TIMEOUT_MS = 3_000  # for a waiting thread to get a processor

# A decision may take this much wall time, however little of it is charged.
_MAX_WALL_PER_BUDGET = 3
_MAX_WALL_EXTRA_MS = 5_000

# How often a thinking bot is checked: its clock, its memory, its stdout.
_FIRST_CHECK_MS = 10.0
_CHECK_MS = 250.0
_CHECK_WAITING_MS = 20.0  # if it waits: a thread's delays are lost when it ends


class BotProcess:
    """One bot for one game.

    ``verdict`` is None until the bot's seat forfeits, and ``started`` until it starts.
    Only the thread that called ``start`` may use a started bot, except for ``kill``.
    The times of an ``untimed`` bot are measured, not limited: a debugger may stop it.
    """

    def __init__(  # noqa: PLR0913 - all but the first two are optional
        self,
        program: Program,
        sandbox: Sandbox,
        limits: Limits | None = None,
        *,
        log: Path | None = None,
        protocol_log: ProtocolLog | None = None,
        strict_clock: bool = False,
        untimed: bool = False,
    ) -> None:
        self.verdict: Verdict | None = None
        self.started: BotStart | None = None
        self._strict_clock = strict_clock
        self._untimed = untimed
        self._program = program
        self._sandbox = sandbox
        self._limits = limits or Limits()
        self._log_path = log
        self._log_file: BinaryIO | None = None
        self._protocol_log = protocol_log
        self._seat = 0
        self._thread = get_ident()
        self._killing = Lock()
        self._wants_legal = True
        self._running: Running | None = None
        self.exit: Exit | None = None
        """The exit status of the bot; None while it runs."""
        self.memory_peak: int | None = None
        """The peak memory use in bytes, once the bot has ended; None if unknown."""
        self._counters: dict[str, int] = {}
        self._stopped = False
        self._ask: Ask | None = None
        self._sent = b""
        self._received = b""
        self._budget_ms = 0.0
        self._unread = 0
        self._late = b""
        self._say_chars_left = MAX_SAID_CHARS
        self._starved_until_ms = 0.0
        """The wall time until which we wait for a starved thread; 0 if none is."""

    @property
    def charge(self) -> Charge:
        """The charge of the last exchange, which is its start at first."""
        return self._watch.last

    @property
    def stderr(self) -> bytes:
        """The end of the bot's stderr; it stays readable when the bot has ended."""
        return self._pipes.stderr if self._running is not None else b""

    def usage(self) -> Usage:
        """Return what the started bot uses now."""
        bot = self._bot
        return Usage(bot.memory_peak(), len(bot.threads()), self._pipes.stderr_bytes)

    def evidence(self) -> BotEnding:
        """Return what is known of how the bot ended. Call it after ``kill``."""
        ask = self._ask
        return BotEnding(
            decision=ask.decision if ask else None,
            ply=ask.ply if ask else None,
            exit=self.exit,
            counters=self._counters,
            charge=self._watch.last if self._running is not None else None,
            memory_peak=self.memory_peak,
        )

    # --- what the referee calls

    def start(self, hello: Hello) -> None:
        """Start the bot, send ``hello``, wait until it is ready, and freeze it.

        Raises PlayerFault and ServiceFault.
        """
        self._seat = hello.seat
        if self._log_path is not None:
            # A person who debugs the bot reads the log meanwhile.
            buffering = 0 if self._untimed else -1
            self._log_file = self._log_path.open("wb", buffering)
        self._thread = get_ident()
        at = time.time()
        began = time.perf_counter()
        self._running = self._sandbox.start(self._program, self._limits)
        sandbox_s = time.perf_counter() - began
        self.started = BotStart(at, sandbox_s)
        self._pipes = BotPipes(self._bot, self._limits, self._log_file)
        self._watch = Stopwatch(self._bot, self._pipes.poll)
        self._budget_ms = self._allowed(self._limits.start_ms)
        self._starved_until_ms = 0.0
        try:
            self._wants_legal = self._greet(protocol.encode_hello(hello)).legal
        except (StdoutClosed, PlayerFault) as why:
            raise self._fault(why) from None
        self.started = BotStart(at, sandbox_s, time.perf_counter() - began)
        with serving(self._seat):  # the bot's own program runs
            self._halt()

    def decide(self, ask: Ask) -> Answer:
        """Let the bot answer a question, and freeze it again.

        Raises PlayerFault and ServiceFault.
        """
        line = protocol.encode_decide(ask, legal=self._wants_legal)
        self._ask = ask
        self._received = b""
        self._budget_ms = self._allowed(ask.move_ms + ask.bank_ms)
        self._starved_until_ms = 0.0
        try:
            reply = self._answer(line)
        except (StdoutClosed, PlayerFault) as why:
            raise self._fault(why) from None
        charge = self._halt()
        answer = Answer(
            reply.actions,
            reply.index,
            charge.ms,
            charge.cpu_ms,
            charge.wall_ms,
            reply.note,
        )
        if reply.thought is not None:
            self._add_thought(answer, reply.thought)
        return answer

    def _add_thought(self, answer: Answer, thought: Thought) -> None:
        """Add a thought to an answer, without a text that is beyond the limit."""
        answer.expect = thought.expect
        if len(thought.say) <= self._say_chars_left:
            self._say_chars_left -= len(thought.say)
            answer.say = thought.say

    def forfeit(self, reason: str, detail: str) -> None:
        """Tell the bot that its seat forfeits, if it can still listen, and end it.

        A verdict that we have for the same reason stays.
        """
        message = {"type": "forfeit", "reason": reason, "detail": detail}
        timeout_ms = _FORFEIT_TIMEOUT_MS if reason in _MESSAGE_REASONS else 0
        self._dismiss(protocol.encode(message), timeout_ms)
        if self.verdict is None or self.verdict.reason != reason:
            self.verdict = self._new_verdict(reason, detail)
        elif self._late and reason == Fault.TIMEOUT and self._was_idle():
            self.verdict = replace(
                self.verdict,
                detail=f"{self.verdict.detail}{_NOT_FLUSHED}",
                late=self._late,
            )

    def _was_idle(self) -> bool:
        """True if the bot mostly waited in its last exchange."""
        return self._watch.last.cpu_ms * 2 < self._budget_ms

    def end(self, scores: list[int], ranks: list[int], reason: str) -> None:
        """Tell the bot the result, give it a second to exit, and end it."""
        message = {"type": "end", "scores": scores, "ranks": ranks, "reason": reason}
        self._dismiss(protocol.encode(message), _END_TIMEOUT_MS)

    def kill(self) -> None:
        """Kill all processes of the bot. Any thread may call it, and more than once.

        Only the thread that plays closes the pipes. If another thread closed them, the
        thread that plays could read from the pipe of another game, which got the same
        descriptor number.
        """
        if self._running is None or self.exit is not None:
            return
        if get_ident() != self._thread:
            with self._killing:
                self._stopped = True
                self._running.kill()
            return
        with ExitStack() as closing:
            if self._log_file is not None:
                closing.callback(self._log_file.close)
            closing.callback(self._watch.close)
            closing.callback(self._pipes.close)
            self._read_memory_peak()
            with self._killing:
                if not self._stopped:
                    self._counters = self._running.counters()
                self.exit = self._running.kill()
            self._pipes.drain_stderr()

    # --- one exchange

    def _allowed(self, ms: float) -> float:
        return math.inf if self._untimed else ms

    @property
    def _bot(self) -> Running:
        if self._running is None:
            raise ServiceFault("the bot was used before its start")
        return self._running

    def _send(self, line: bytes) -> None:
        if self._protocol_log is not None:
            self._protocol_log("sent", self._seat, line[:-1])
        self._sent = line
        self._pipes.send(line)

    def _receive(self) -> bytes:
        # A bot with a thread on each processor uses its budget that much faster.
        wait_ms = _FIRST_CHECK_MS
        if self._budget_ms < wait_ms * _CPUS:
            wait_ms = self._budget_ms / _CPUS
        line = self._pipes.receive(wait_ms, self._check)
        self._received = line
        if self._protocol_log is not None:
            self._protocol_log("received", self._seat, line)
        return line

    def _greet(self, hello: bytes) -> Ready:
        """Send ``hello``, and return the bot's ``ready``."""
        self._send(hello)
        while True:
            ready = protocol.read_ready(self._receive())
            if ready is not None:
                return ready

    def _answer(self, line: bytes) -> Reply:
        """Send a question and return the answer. The bot runs from one to the other."""
        pipes = self._pipes
        watch = self._watch
        early = pipes.early()
        if early is not None:
            self._received = early
            quotation = protocol.quote(early)
            raise PlayerFault(
                Fault.PROTOCOL, f"it wrote this before the question: {quotation}"
            )
        self._send(line)
        watch.start()
        self._bot.thaw()
        watch.thawed()
        while True:
            line = self._receive()
            reply = protocol.read_answer(line)
            # One byte may be left, because a JSON reader need not read the newline.
            if pipes.unread_by_bot() > 1:
                quotation = protocol.quote(line)
                raise PlayerFault(
                    Fault.PROTOCOL,
                    f"it wrote {quotation} before it had read the question",
                )
            if reply is not None:
                return reply

    def _halt(self) -> Charge:
        """Freeze the bot after an exchange, and return the charge.

        The charge may exceed the budget, if it is certain: the referee judges that.
        """
        bot = self._bot
        watch = self._watch
        bot.freeze()
        watch.stop()
        if bot.over_memory():
            raise self._fail(Fault.MEMORY, "")
        charge = watch.last
        if charge.ms > self._budget_ms:
            self._require_certainty(charge)
        return charge

    def _fault(self, why: StdoutClosed | PlayerFault) -> PlayerFault:
        """End an exchange that failed, and return its fault. The verdict is stored."""
        if isinstance(why, StdoutClosed):
            return self._crash()
        return self._fail(why.reason, why.detail)

    # --- the clock while the bot thinks

    def _check(self) -> float:
        """Check a thinking bot, and return for how many ms to wait for it next.

        1. A bot without stdout, or with too much memory, is at fault.
        2. If the time is up, but the CPU time alone is within the budget, a thread may
           be waiting for a processor. The kernel counts a delay only when it ends, so
           wait until the thread has run.
        3. If time is left, wait. Threads on all processors use it up in the time left
           divided by the number of processors, so check again then, or earlier. But
           a decision that takes very long without being charged is doubtful.
        4. Otherwise the time is up. If delays may have been missed, that is doubtful,
           otherwise it is the bot's fault.
        """
        charge = self._watch.read()
        if self._bot.closed_stdout():
            raise StdoutClosed
        if self._bot.over_memory():
            raise PlayerFault(Fault.MEMORY, "")
        if charge.ms >= self._budget_ms > charge.cpu_ms:
            if not self._watch.all_delays_known():
                return self._wait_for_starved_thread(charge)
            charge = self._watch.read()
        left_ms = self._budget_ms - charge.ms
        if left_ms > 0:
            max_wall_ms = _MAX_WALL_PER_BUDGET * self._budget_ms + _MAX_WALL_EXTRA_MS
            if charge.wall_ms > max_wall_ms:
                raise self._doubtful(
                    f"{self._cost(charge)}; nothing may occupy a worker for longer than"
                    f" {max_wall_ms:.0f} ms"
                )
            self._starved_until_ms = 0.0
            self._watch.forget_waiting_threads()
            check_ms = _CHECK_WAITING_MS if charge.waited_ms else _CHECK_MS
            self._watch.resume()
            return max(1.0, min(left_ms / _CPUS, check_ms))
        self._require_certainty(charge)
        raise PlayerFault(Fault.TIMEOUT, self._cost(charge))

    def _wait_for_starved_thread(self, charge: Charge) -> float:
        """Return for how many ms to wait. Raises ServiceFault after the timeout."""
        if not self._starved_until_ms:
            self._starved_until_ms = charge.wall_ms + _STARVATION_TIMEOUT_MS
        if charge.wall_ms > self._starved_until_ms:
            raise self._doubtful(
                f"the machine gave seat {self._seat} no processor for"
                f" {_STARVATION_TIMEOUT_MS} ms, so its clock cannot be judged; let"
                " fewer programs run on the machine"
            )
        self._watch.resume()
        return 1.0

    def _doubtful(self, text: str) -> ServiceFault | PlayerFault:
        """Return the exception for a clock that may be the machine's fault.

        A bot can cause such doubts itself, with short-lived children. So it gets the
        benefit of the doubt once in a game; with a strict clock it is a timeout.
        """
        if self._strict_clock:
            return PlayerFault(Fault.TIMEOUT, f"for the second time: {text}")
        return ServiceFault(text, self._seat)

    def _require_certainty(self, charge: Charge) -> None:
        """Raise ServiceFault if the machine may be the reason why the time is up."""
        if charge.cpu_ms >= self._budget_ms:
            return
        if self._watch.may_have_missed_delays(charge):
            raise self._doubtful(
                f"{self._cost(charge)}, and threads of it have ended that may have"
                " waited longer, so its clock cannot be judged; let fewer programs"
                " run on the machine"
            )

    def _cost(self, charge: Charge) -> str:
        what = "its start" if self._ask is None else f"the decision {self._where()}"
        return (
            f"{what} took {charge.ms:.0f} ms and {self._budget_ms:.0f} ms were left"
            f" (processor {charge.cpu_ms:.0f} ms, wall {charge.wall_ms:.0f} ms,"
            f" of which {charge.waited_ms:.0f} ms waiting for a processor)"
        )

    def _where(self) -> str:
        return f"{self._ask.decision} at ply {self._ask.ply}" if self._ask else "start"

    # --- endings

    def _fail(self, reason: Fault, detail: str) -> PlayerFault:
        """Store the verdict of a fault and return the fault. Kill the bot if necessary.

        If the bot used too much memory, that becomes the reason: it explains the rest.
        """
        if self.exit is None:
            self._watch.stop()
            if self._bot.over_memory():
                reason = Fault.MEMORY
                detail = f"it needed more than its {self._limits.memory_mb} MiB"
            elif reason == Fault.TIMEOUT:
                self._unread = self._pipes.unread_by_bot()
        if reason not in _MESSAGE_REASONS:
            self.kill()
        self.verdict = self._new_verdict(reason, detail)
        return PlayerFault(reason, detail)

    def _crash(self) -> PlayerFault:
        """Return the fault of a bot that has ended or has closed its stdout.

        Raises ServiceFault if the sandbox never reached the bot's own program, if
        another thread of ours killed the bot, or if the sandbox has evidence that the
        host did (``Exit.by_host``). Without evidence the end is the bot's own, also by
        SIGKILL: a bot can kill itself when it is behind.
        """
        self._watch.stop()
        if self._stopped:
            raise ServiceFault(
                f"the bot of seat {self._seat} was stopped by this service", self._seat
            )
        exited = wait_for_exit(self._bot.pid, _EXIT_TIMEOUT_MS)
        if self._bot.over_memory():
            return self._fail(Fault.MEMORY, "")
        began = self._bot.began()
        self.kill()
        if not began:
            tail = protocol.quote(self._pipes.stderr[-200:])
            raise ServiceFault(f"the sandbox could not start the bot: {tail}")
        if exited and self.exit is not None and self.exit.by_host:
            oom_kills = self._counters.get("oom_kills", 0)
            raise ServiceFault(
                f"the bot of seat {self._seat} was killed from outside at"
                f" {self._where()}, within its {self._limits.memory_mb} MiB; "
                + (
                    f"the machine ran out of memory ({oom_kills} processes killed)"
                    if oom_kills
                    else "somebody killed the process of its sandbox"
                ),
                self._seat,
            )
        how = str(self.exit) if exited else "it closed its stdout"
        return self._fail(Fault.CRASH, f"{how}, at {self._where()}")

    def _dismiss(self, line: bytes, timeout_ms: int) -> None:
        """Send a last line, give the bot ``timeout_ms`` to exit, and kill it."""
        if self._running is None or self.exit is not None:
            return
        self._read_memory_peak()
        try:
            self._bot.thaw()
            if timeout_ms:
                self._send(line)
                self._await_exit(timeout_ms)
        except (OSError, PlayerFault, ServiceFault):
            pass  # the game is over for this bot, so no fault of it matters any more
        finally:
            self.kill()

    def _read_memory_peak(self) -> None:
        """Note the peak memory. It cannot be read from a process that has exited."""
        peak = self._bot.memory_peak()
        if peak is not None:
            self.memory_peak = peak

    def _await_exit(self, timeout_ms: int) -> None:
        """Read the bot's output until it exits. Raises PlayerFault if it does not.

        Its first line is stored: a bot whose answer is still in a buffer writes it when
        its stdin is closed.
        """
        ends = time.monotonic() + timeout_ms / 1e3

        def left_ms() -> float:
            ms = (ends - time.monotonic()) * 1e3
            if ms <= 0:
                raise PlayerFault(Fault.TIMEOUT, "it did not exit")
            return ms

        try:
            self._pipes.flush(left_ms)
            self._pipes.close_stdin()
            while True:
                self._late = self._pipes.receive(left_ms(), left_ms) or self._late
        except (StdoutClosed, PlayerFault):  # also a bot that goes on to write too much
            wait_for_exit(self._bot.pid, max(0.0, (ends - time.monotonic()) * 1e3))

    def _new_verdict(self, reason: str, detail: str) -> Verdict:
        ask = self._ask
        return Verdict(
            reason=reason,
            detail=detail,
            decision=ask.decision if ask else None,
            ply=ask.ply if ask else None,
            sent=self._sent[:MAX_LINE_BYTES],
            received=(self._received or self._pipes.pending)[:MAX_LINE_BYTES],
            move_ms=ask.move_ms if ask else self._limits.start_ms,
            bank_ms=ask.bank_ms if ask else 0.0,
            charge=self._watch.last,
            exit=self.exit,
            memory_peak=self.memory_peak,
            stderr=self._pipes.stderr,
            unread=self._unread,
        )
