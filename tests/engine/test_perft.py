"""The number of action sequences from positions of every ruleset."""

from pathlib import Path

import pytest

from engine.__main__ import after_plies, main, perft

FILES = sorted((Path(__file__).parent / "perft").glob("*.perft"))
MAX_FAST_COUNT = 20_000  # larger counts belong to the slow run


def rows() -> list[tuple[str, int, str, int, int, int]]:
    result = []
    for path in FILES:
        for line in path.read_text().splitlines():
            if not line.startswith("#"):
                seats, seed, plies, depth, count = line.split()
                row = (int(seats), seed, int(plies), int(depth), int(count))
                result.append((path.stem, *row))
    return result


def slow(row: tuple[str, int, str, int, int, int]) -> object:
    return pytest.param(
        *row, marks=pytest.mark.deep if row[-1] > MAX_FAST_COUNT else []
    )


@pytest.mark.parametrize(
    ("ruleset", "seats", "seed", "plies", "depth", "expected"),
    [slow(row) for row in rows()],
)
def test_perft(
    ruleset: str, seats: int, seed: str, plies: int, depth: int, expected: int
) -> None:
    assert perft(after_plies(ruleset, seats, seed, plies), depth) == expected


def test_depth_0_is_one_leaf() -> None:
    assert perft(after_plies("yucata", 2, "perft", 0), 0) == 1


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    main(["perft", "2"])
    assert capsys.readouterr().out == "1 8\n2 56\n"
    main(["perft", "1", "yucata", "2", "perft", "3"])
    assert int(capsys.readouterr().out.split()[1]) > 0
    with pytest.raises(SystemExit):
        main([])
