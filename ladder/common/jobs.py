"""Jobs: work that runs in processes of its own beside the dispatcher.

Long computations would take turns with the dispatcher's own work, so that hints become
late. An app declares its jobs in its module `jobs`; `ladder.dispatch.jobs` lists them.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import structlog
from django.conf import settings

from torres.common.parents import end_with_parent

PAUSE_AFTER_FAILURE_S = 30.0
LONGEST_S = 6 * 3600.0
STOP_TIMEOUT_S = 10.0

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Job:
    """Work for a process of its own: `manage.py run_job NAME`.

    `run` may be killed at any moment, and a second process does no harm. `is_due` says
    whether it would do something now; it is asked once in `check_interval_s` at most,
    and only after a change in games or ladders unless it is `independent` of them. A
    process that runs for `longest_s` seconds hangs: it is killed, and started again.
    """

    name: str
    is_due: Callable[[], bool]
    run: Callable[[], object]
    check_interval_s: float = 0.0
    independent: bool = False
    longest_s: float = LONGEST_S


class JobProcess:
    """Runs a job in a child process, and starts it again when it has work again.

    The child ends with the thread that started it. Otherwise each dispatcher that is
    killed would leave one behind, and these can take a processor and a gigabyte for
    minutes.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.child: subprocess.Popen[bytes] | None = None
        self._not_before = float("-inf")
        self._started_at = 0.0

    def ensure(self) -> None:
        """Start the process if it is needed and does not run. Returns at once."""
        now = time.monotonic()
        if self._is_running() or now < self._not_before:
            return
        self._not_before = now + self.job.check_interval_s
        if self.job.is_due():
            self._started_at = now
            command = (sys.executable, settings.BASE_DIR / "manage.py", "run_job")
            self.child = subprocess.Popen(
                [*end_with_parent("TERM"), *command, self.job.name],
                stdin=subprocess.DEVNULL,
                process_group=0,  # so that Ctrl-C reaches only this process
            )

    def stop(self) -> None:
        """Tell the process to end. Returns at once."""
        if self.child is not None:
            self.child.terminate()

    def close(self) -> None:
        """Stop the process, and wait for its end."""
        self.stop()
        if self.child is None:
            return
        try:
            self.child.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child = None

    def _is_running(self) -> bool:
        if self.child is None:
            return False
        code = self.child.poll()
        if code is None:
            if time.monotonic() - self._started_at > self.job.longest_s:
                self.child.kill()  # the next look finds its exit code
            return True
        if code:
            log.error(
                "a job failed and is tried again", job=self.job.name, exit_code=code
            )
            self._not_before = time.monotonic() + PAUSE_AFTER_FAILURE_S
        self.child = None
        return False
