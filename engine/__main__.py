"""Count the game tree: `python -m engine perft N [RULESET [SEATS [SEED [PLIES]]]]`."""

import sys

from engine.editions import DEFAULT
from engine.kernel import Position, start
from engine.rulesets import resolve
from engine.setup import derive


def perft(position: Position, depth: int) -> int:
    """Return the number of legal sequences of `depth` actions from a position."""
    moves = position.legal()
    if depth <= 1:
        return len(moves) if depth else 1
    total = 0
    for move in moves:
        after = position.copy()
        after.perform(move)
        total += perft(after, depth - 1)
    return total


def after_plies(ruleset: str, seats: int, seed: str, plies: int) -> Position:
    """Return the position after some plies that any program can reproduce.

    At ply p, with n legal moves in ASCII order, move number `(n // 2 + p) % n` is
    played.
    """
    rules = resolve(ruleset, seats)
    position = start(rules, derive(rules, seed))
    for ply in range(plies):
        moves = position.legal()
        position.apply(moves[(len(moves) // 2 + ply) % len(moves)])
    return position


def main(arguments: list[str]) -> None:
    """Print one line for each depth: the depth and the number of sequences."""
    if len(arguments) < 2 or arguments[0] != "perft":
        sys.exit(__doc__)
    options = arguments[2:6]
    defaults = [DEFAULT, "2", "perft", "0"]
    ruleset, seats, seed, plies = options + defaults[len(options) :]
    for depth in range(1, int(arguments[1]) + 1):
        position = after_plies(ruleset, int(seats), seed, int(plies))
        print(depth, perft(position, depth))  # noqa: T201 - a command prints


if __name__ == "__main__":  # pragma: no cover - tests call main
    main(sys.argv[1:])
