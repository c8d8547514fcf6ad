"""`manage.py simulate`: how fast a ladder finds the order of its bots."""

import re
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from ladder.common.commands import ServiceCommand
from torres.rating import simulation
from torres.rating.pairing import PairingTerms
from torres.rating.simulation import SimulationPlan, SimulationPoint
from torres.rating.trueskill import Parameters

MAX_SEATS = 4
SIZES = ("2", "3", "4")
MAX_TAU = 100.0
MAX_NUMBER = 1_000_000
"""The most bots, games of a bot, and seeds; the simulation keeps them in memory."""
SHARE = re.compile(r"(?=.*[1-9])\d{1,6}(\.\d{1,6})?", re.ASCII)
GOAL = 0.90  # Kendall's τ of the true order and the shown one


class Command(ServiceCommand):
    help = (
        "Simulate a ladder of synthetic bots of known skill, with the real matchmaker, "
        "ledger and ratings, but without games. Print how well the order is known."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bots", type=int, default=100)
        parser.add_argument("--seats", default="2=0.4,3=0.2,4=0.4", help="size=share,…")
        parser.add_argument("--games", type=int, default=39, help="per bot")
        parser.add_argument("--seeds", type=int, default=1, help="runs, from seed 1")
        parser.add_argument("--policy", choices=simulation.POLICIES, default="ours")
        parser.add_argument("--tau", type=float, default=Parameters().tau)
        parser.add_argument("--every", type=int, default=5, help="games between lines")

    def handle(self, *args: Any, **options: Any) -> None:
        _check_range(options, bots=MAX_SEATS, games=1, seeds=1, every=1)
        if not 0 <= options["tau"] <= MAX_TAU:
            raise CommandError(f"--tau: use a number from 0 to {MAX_TAU}.")
        terms = PairingTerms(_shares(options["seats"]), Parameters(tau=options["tau"]))
        runs = [
            simulation.converge(
                SimulationPlan(terms, options["bots"], seed, options["policy"]),
                options["games"],
            )
            for seed in range(1, options["seeds"] + 1)
        ]
        self.stdout.write("games/bot  Kendall τ of μ-3σ  of μ    fewest  most")
        reached = None
        for points in zip(*runs, strict=True):
            mean = simulation.average(points)
            if reached is None and mean.shown >= GOAL:
                reached = mean.games
            if mean.games % options["every"] == 0 or mean.games == options["games"]:
                self.stdout.write(_line(mean))
        self.stdout.write(f"τ = {GOAL} after {reached or 'more'} games per bot")


def _shares(text: str) -> dict[str, float]:
    """Read `size=share,…`. Raises CommandError."""
    shares = {}
    for part in text.split(","):
        size, _, share = part.partition("=")
        number = float(share) if SHARE.fullmatch(share) else 0.0
        if size not in SIZES or not number:
            raise CommandError(
                f"--seats: {part[:40]!r} is not size=share. Use sizes from 2 to"
                f" {MAX_SEATS} and positive shares, for example 2=0.4,3=0.2,4=0.4."
            )
        shares[size] = number
    return shares


def _check_range(options: dict[str, Any], **least: int) -> None:
    for name, value in least.items():
        if not value <= options[name] <= MAX_NUMBER:
            raise CommandError(f"--{name}: use a number from {value} to {MAX_NUMBER}.")


def _line(point: SimulationPoint) -> str:
    return (
        f"{point.games:9}  {point.shown:17.4f}  {point.mean:.4f}  "
        f"{point.fewest:6}  {point.most:4}"
    )
