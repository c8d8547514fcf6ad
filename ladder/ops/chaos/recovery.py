"""Measures for how long no game finishes although the service should play."""

from collections import Counter
from collections.abc import Iterator

BOUNDS_S = (1, 2, 5, 10, 15, 30, 60)
SUSPICIOUS_S = 1.0


class Recovery:
    """Follows one run. Times are in seconds of the monotonic clock.

    `gaps` has the longest time without a finished game after each event: the beginning
    or the end of a fault. A time in which nothing can play does not count.
    """

    def __init__(self) -> None:
        self.gaps: list[tuple[float, str]] = []
        self._event = ""
        self._longest_s = 0.0
        self._last_at: float | None = None
        self._finished = 0

    def begin(self, event: str) -> None:
        """Begin another period with an event."""
        if self._event:
            self.gaps.append((self._longest_s, self._event))
        self._event = event
        self._longest_s = 0.0

    def look(self, now: float, finished: int, *, can_play: bool) -> None:
        """Note how many games have ever finished, and whether any part can play."""
        if self._last_at is None or not can_play:
            self._last_at = now
        self._longest_s = max(self._longest_s, now - self._last_at)
        if finished > self._finished:
            self._finished = finished
            self._last_at = now

    def is_waiting(self, now: float) -> bool:
        """True if no game has finished for some time."""
        return self._last_at is not None and now - self._last_at > SUSPICIOUS_S

    def too_long(self, limit_s: float) -> list[tuple[float, str]]:
        return [gap for gap in self.gaps if gap[0] > limit_s]

    def histogram(self) -> Iterator[str]:
        """Yield a line for each range of seconds."""
        counts = Counter(
            next((bound for bound in BOUNDS_S if seconds <= bound), 0)
            for seconds, _ in self.gaps
        )
        for bound in BOUNDS_S:
            yield f"  {counts[bound]:>4} x up to {bound} s"
        yield f"  {counts[0]:>4} x longer"
