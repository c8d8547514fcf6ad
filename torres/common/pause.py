"""Waiting for a time, where there is no event to wait for."""

import time


def pause(seconds: float) -> None:
    """Wait. A signal whose handler raises ends the pause."""
    time.sleep(seconds)  # noqa: TID251 - the one place that may
