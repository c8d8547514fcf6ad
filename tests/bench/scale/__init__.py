"""The speed of the service with many bots and games.

`python -m tests.bench scale [--games N …] [--database URL …]` prints what the tick, the
pages, the admin site and the commands cost with a filled database (`tests.fill`),
each beside its target. With several sizes it also prints how fast each cost grows.
"""

from tests.bench.scale.report import measure, report

__all__ = ["measure", "report"]
