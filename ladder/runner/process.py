"""A seat's bot as a process: the referee's ``Player`` over pipes, in a sandbox.

It decides when a bot has broken the rules of conduct and says so precisely to the
owner; it knows nothing of the game. It is used by the one thread that started it.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, get_ident
from typing import Any, BinaryIO, Literal

from engine.referee import Answer, Ask, PlayerFault, ServiceFault
from ladder.runner import protocol
from ladder.runner.clock import Charge, Stopwatch
from ladder.runner.pipes import BotPipes, Closed
from ladder.runner.protocol import Limits, Ready, Reply
from ladder.runner.sandbox.api import Exit, Program, Running, Sandbox
from ladder.runner.sandbox.proc import wait_for_exit
from ladder.runner.verdict import KEPT_BYTES, Verdict

Direction = Literal["sent", "received"]
ProtocolLog = Callable[[Direction, int, bytes], None]
"""Called with every raw line: its direction, the seat, the line with no newline."""

_CPUS = os.cpu_count() or 1
_POLITE = frozenset({"protocol", "illegal_action"})
"""Faults after which a bot can still hear why; others end it at once."""
_END_MS = 1_000
_FORFEIT_MS = 200
_DYING_MS = 500
_FIRST_LOOK_MS, _LOOK_MS = 10.0, 250.0
"""How often a thinking bot is looked at: for its clock, its memory, its stdout."""
_WAITING_LOOK_MS = 20.0
"""And if it waits for a processor: what a thread waited is lost when it ends."""
_STARVED_MS = 3_000


class BotProcess:
    """One bot for one game. ``verdict`` is there once its seat has forfeited."""

    def __init__(
        self,
        box: Program,
        sandbox: Sandbox,
        limits: Limits | None = None,
        *,
        log: Path | None = None,
        protocol_log: ProtocolLog | None = None,
    ) -> None:
        self.verdict: Verdict | None = None
        self._box, self._sandbox = box, sandbox
        self._limits = limits or Limits()
        self._log_path = log
        self._log_file: BinaryIO | None = None
        self._tell = protocol_log
        self._seat = 0
        self._thread, self._ending = get_ident(), Lock()
        self._wants_legal = True
        self._running: Running | None = None
        self._exit: Exit | None = None
        self._peak: int | None = None
        self._ask: Ask | None = None
        self._sent = self._received = b""
        self._budget = self._grace = 0.0

    # --- what the referee calls

    def start(self, hello: dict[str, Any]) -> None:
        """Launch the bot, say hello, and wait until it is ready; then freeze it."""
        self._seat = hello.get("seat", 0)
        if self._log_path is not None:
            self._log_file = self._log_path.open("wb")
        self._thread = get_ident()
        self._running = self._sandbox.start(self._box, self._limits)
        self._channel = BotPipes(self._bot, self._limits, self._log_file)
        self._watch = Stopwatch(self._bot)
        self._budget, self._grace = self._limits.start_ms, 0.0
        try:
            self._wants_legal = self._greet(protocol.encode(hello)).legal
        except (Closed, PlayerFault) as why:
            raise self._fault(why) from None
        self._halt()

    def decide(self, ask: Ask) -> Answer:
        """Ask the bot, and freeze it when it has answered."""
        line = protocol.encode_decide(ask, legal=self._wants_legal)
        self._ask, self._received = ask, b""
        self._budget, self._grace = ask.move_ms + ask.bank_ms, 0.0
        try:
            reply = self._answer(line)
        except (Closed, PlayerFault) as why:
            raise self._fault(why) from None
        charge = self._halt()
        return Answer(
            reply.actions,
            reply.index,
            charge.ms,
            charge.cpu_ms,
            charge.wall_ms,
            reply.note,
        )

    def forfeit(self, reason: str, detail: str) -> None:
        """Tell the bot, give it a moment to note it, end it; keep the verdict."""
        message = {"type": "forfeit", "reason": reason, "detail": detail}
        wait_ms = _FORFEIT_MS if reason in _POLITE else 0
        self._say_and_end(protocol.encode(message), wait_ms)
        if self.verdict is None or self.verdict.reason != reason:
            self.verdict = self._judge(reason, detail)

    def end(self, scores: list[int], ranks: list[int], reason: str) -> None:
        """Tell the bot the result, and let it go within a second."""
        message = {"type": "end", "scores": scores, "ranks": ranks, "reason": reason}
        self._say_and_end(protocol.encode(message), _END_MS)

    def kill(self) -> None:
        """End the bot at once, all of it. Any thread may call it.

        Only the thread that plays closes the pipes: a descriptor closed under it could
        be another game's by the time that it reads.
        """
        if self._running is None or self._exit is not None:
            return
        if get_ident() != self._thread:
            with self._ending:
                self._running.kill()
            return
        self._peak = self._bot.memory_peak()
        with self._ending:
            self._exit = self._running.kill()
        self._channel.settle()
        self._channel.close()
        self._watch.close()
        if self._log_file is not None:
            self._log_file.close()

    # --- one exchange

    @property
    def _bot(self) -> Running:
        if self._running is None:
            raise ServiceFault("the bot was not started")
        return self._running

    def _send(self, line: bytes) -> None:
        if self._tell is not None:
            self._tell("sent", self._seat, line[:-1])
        self._sent = line
        self._channel.send(line)

    def _receive(self) -> bytes:
        wait = _FIRST_LOOK_MS
        if self._budget < wait * _CPUS:
            wait = self._budget / _CPUS
        line = self._channel.receive(wait, self._left)
        self._received = line
        if self._tell is not None:
            self._tell("received", self._seat, line)
        return line

    def _greet(self, hello: bytes) -> Ready:
        """Say hello, and return what it says when it is ready."""
        self._send(hello)
        while (ready := protocol.read_ready(self._receive())) is None:
            pass
        return ready

    def _answer(self, line: bytes) -> Reply:
        """Ask, and return the answer; the bot runs from the question to the answer."""
        channel, watch = self._channel, self._watch
        early = channel.early()
        if early is not None:
            self._received = early
            raise PlayerFault(
                "protocol",
                f"this lay there before the question: {protocol.quote(early)}",
            )
        self._send(line)
        watch.start()
        self._bot.thaw()
        watch.released()
        while True:
            line = self._receive()
            reply = protocol.read_answer(line)
            # One byte may be left: who reads JSON needs not read the newline.
            if channel.unread_by_bot() > 1:
                raise PlayerFault(
                    "protocol",
                    f"it wrote {protocol.quote(line)} before it had read the question",
                )
            if reply is not None:
                return reply

    def _halt(self) -> Charge:
        """Freeze the bot after an exchange, and return what it is charged."""
        bot, watch = self._bot, self._watch
        bot.freeze()
        watch.stop()
        if bot.over_memory():
            raise self._fail("memory", "")
        charge = watch.last
        if charge.ms > self._budget:
            self._be_sure(charge)  # then the referee judges it
        return charge

    def _fault(self, why: Closed | PlayerFault) -> PlayerFault:
        """Return the fault, with a verdict, of an exchange that ended so."""
        if isinstance(why, Closed):
            return self._crash()
        return self._fail(why.reason, why.detail)

    def _left(self) -> float:
        """Return for how many ms the bot may be waited for; raise when it is over."""
        charge = self._watch.read()
        if self._bot.closed_stdout():
            raise Closed
        if self._bot.over_memory():
            raise PlayerFault("memory", "")
        if charge.ms >= self._budget > charge.cpu_ms:
            # A thread may wait for a processor; how long is known when it has run.
            if not self._watch.settled():
                return self._patience(charge)
            charge = self._watch.read()
        left = self._budget - charge.ms
        if left > 0:
            self._grace = 0.0
            self._watch.forget_waiting()
            often = _WAITING_LOOK_MS if charge.waited_ms else _LOOK_MS
            return max(1.0, min(left / _CPUS, often))
        self._be_sure(charge)
        raise PlayerFault("timeout", self._spent(charge))

    def _patience(self, charge: Charge) -> float:
        """Return for how many ms to wait for a thread to run; raise after too many."""
        self._grace = self._grace or charge.wall_ms + _STARVED_MS
        if charge.wall_ms > self._grace:
            raise ServiceFault(
                f"the machine gave seat {self._seat} no processor for"
                f" {_STARVED_MS} ms; its clock cannot be judged"
            )
        return 1.0

    def _be_sure(self, charge: Charge) -> None:
        """Raise ServiceFault if it may be the machine's fault that the time is up."""
        if charge.cpu_ms < self._budget and self._watch.unsure(charge):
            raise ServiceFault(
                f"{self._spent(charge)}, and threads of it have ended that may have"
                " waited longer; its clock cannot be judged"
            )

    def _spent(self, charge: Charge) -> str:
        what = "its start" if self._ask is None else f"the decision {self._where()}"
        return (
            f"{what} took {charge.ms:.0f} ms and {self._budget:.0f} ms were left"
            f" (processor {charge.cpu_ms:.0f} ms, wall {charge.wall_ms:.0f} ms,"
            f" of which {charge.waited_ms:.0f} ms waiting for a processor)"
        )

    def _where(self) -> str:
        return f"{self._ask.decision} at ply {self._ask.ply}" if self._ask else "start"

    # --- endings

    def _fail(self, reason: str, detail: str) -> PlayerFault:
        """Return the fault, its verdict kept; too much memory explains the rest."""
        if self._exit is None:
            self._watch.stop()
            if self._bot.over_memory():
                reason = "memory"
                detail = f"it needed more than its {self._limits.memory_mb} MiB"
        if reason not in _POLITE:
            self.kill()
        self.verdict = self._judge(reason, detail)
        return PlayerFault(reason, detail)

    def _crash(self) -> PlayerFault:
        """Return the fault of a bot that is gone, or that closed its stdout."""
        self._watch.stop()
        gone = wait_for_exit(self._bot.pid, _DYING_MS)
        if self._bot.over_memory():
            return self._fail("memory", "")
        began = self._bot.began()
        self.kill()
        if not began:
            tail = protocol.quote(self._channel.stderr[-200:])
            raise ServiceFault(f"the sandbox could not start the bot: {tail}")
        how = str(self._exit) if gone else "it closed its stdout"
        return self._fail("crash", f"{how}, at {self._where()}")

    def _say_and_end(self, line: bytes, wait_ms: int) -> None:
        if self._running is None or self._exit is not None:
            return
        try:
            self._bot.thaw()
            if wait_ms:
                self._send(line)
                self._linger(wait_ms)
        except (OSError, PlayerFault, ServiceFault):
            pass  # it is being ended: nothing that it does can matter any more
        self.kill()

    def _linger(self, wait_ms: int) -> None:
        """Take the bot's last words until it has gone, for ``wait_ms`` at most."""
        ends = time.monotonic() + wait_ms / 1e3

        def left() -> float:
            ms = (ends - time.monotonic()) * 1e3
            if ms <= 0:
                raise PlayerFault("timeout", "it did not leave")
            return ms

        try:
            self._channel.flush(left)
            self._channel.hang_up()
            while True:
                self._channel.receive(left(), left)
        except Closed:
            wait_for_exit(self._bot.pid, max(0.0, (ends - time.monotonic()) * 1e3))

    def _judge(self, reason: str, detail: str) -> Verdict:
        ask = self._ask
        return Verdict(
            reason=reason,
            detail=detail,
            decision=ask.decision if ask else None,
            ply=ask.ply if ask else None,
            sent=self._sent[:KEPT_BYTES],
            received=(self._received or self._channel.pending)[:KEPT_BYTES],
            move_ms=ask.move_ms if ask else self._limits.start_ms,
            bank_ms=ask.bank_ms if ask else 0.0,
            charge=self._watch.last,
            exit=self._exit,
            memory_peak=self._peak,
            stderr=self._channel.stderr,
        )
