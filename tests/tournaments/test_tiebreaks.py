"""Tie-breaks compared with published tables, and explanations in words."""

from fractions import Fraction
from itertools import combinations

from tests.tournaments.factories import entrants, fixture
from torres.formats.config import SWISS_BREAKS, TieBreak
from torres.formats.tiebreaks import TieBreakTable, format_points
from torres.formats.values import ResultKind

# The final of the 8th correspondence chess world championship: crosstable, points and
# Neustadtl (Sonneborn-Berger), as the encyclopedia article "Buchholz system" prints
# them. (Its Buchholz column omits opponents that won, so it is not used here.)
WORLD_FINAL = """
X ½ ½ 1 ½ ½ 1 1 ½ 1 ½ 1 1 1 1 | 11 69.5
½ X 0 ½ 1 ½ 1 1 1 ½ 1 1 1 1 1 | 11 66.75
½ 1 X ½ ½ ½ ½ ½ 1 1 ½ 1 1 1 1 | 10.5 67.5
0 ½ ½ X ½ 1 ½ 0 1 1 ½ 1 ½ 1 ½ | 8.5 54.75
½ 0 ½ ½ X ½ ½ ½ ½ 0 1 1 ½ 1 1 | 8 47.75
½ ½ ½ 0 ½ X ½ ½ 0 1 ½ ½ 0 1 1 | 7 45.25
0 0 ½ ½ ½ ½ X ½ 1 0 ½ ½ 1 1 ½ | 7 42.5
0 0 ½ 1 ½ ½ ½ X 0 ½ 1 0 1 ½ 1 | 7 41.5
½ 0 0 0 ½ 1 0 1 X 1 ½ ½ ½ ½ 1 | 7 41.5
0 ½ 0 0 1 0 1 ½ 0 X 1 1 1 0 1 | 7 40.5
½ 0 ½ ½ 0 ½ ½ 0 ½ 0 X 0 1 ½ 1 | 5.5 33.25
0 0 0 0 0 ½ ½ 1 ½ 0 1 X ½ ½ 1 | 5.5 28.5
0 0 0 ½ ½ 1 0 0 ½ 0 0 ½ X ½ 1 | 4.5 24.75
0 0 0 0 0 0 0 ½ ½ 1 ½ ½ ½ X 1 | 4.5 22.75
0 0 0 ½ 0 0 ½ 0 0 0 0 0 0 0 X | 1 7.75
"""


def world_final() -> TieBreakTable:
    rows = [line.split("|")[0].split() for line in WORLD_FINAL.strip().splitlines()]
    fixtures = [
        fixture(1, k, (i + 1, j + 1), f"{rows[i][j]} {rows[j][i]}")
        for k, (i, j) in enumerate(combinations(range(15), 2))
    ]
    return TieBreakTable(entrants(15), fixtures, SWISS_BREAKS)


def published(column: int) -> list[Fraction]:
    lines = WORLD_FINAL.strip().splitlines()
    return [Fraction(line.split("|")[1].split()[column]) for line in lines]


def values(table: TieBreakTable, rule: TieBreak) -> list[Fraction]:
    return [table.value(rule, key, ()) for key in table.records]


def test_points_and_sonneborn_berger_of_a_world_championship_final() -> None:
    table = world_final()

    assert [r.points for r in table.records.values()] == published(0)
    assert values(table, TieBreak.SONNEBORN_BERGER) == published(1)


# Hamilton Chess Club championship 2018 (hamiltonchess.net, "Richard On Tie Break"): a
# Swiss of 27 players and 6 rounds. The page prints Buchholz and Sonneborn-Berger of the
# two players with 5½ points, which decided the title.
HAMILTON = """
1 =2 +10 +17 +12 +4 +3
2 +27 +16 +9 =1 +8 +10
3 =BYE +11 +6 =4 +5 -1
4 +22 +15 =8 =3 -1 +13
5 -16 +14 +22 +15 -3 +8
6 -21 +27 -3 +23 +16 +14
7 -9 -23 +27 +19 +15 +12
8 +25 +21 =4 +13 -2 -5
9 +7 +13 -2 =BYE +18
10 -1 +25 +26 =12 +17 -2
11 =BYE -3 -14 +25 +20 +17
12 +20 +18 -1 =10 =14 -7
13 +23 -9 +19 -8 +21 -4
14 =BYE -5 +11 +22 =12 -6
15 +26 -4 +21 -5 -7 +24
16 +5 -2 -17 +24 -6 +22
17 +24 -1 +16 =BYE -10 -11
18 +19 -12 +23 =BYE -9
19 -18 +20 -13 -7 =25 +21
20 -12 -19 =25 +27 -11 +26
21 +6 -8 -15 +26 -13 -19
22 -4 +24 -5 -14 +26 -16
23 -13 +7 -18 -6 -24 +27
24 -17 -22 +BYE -16 +23 -15
25 -8 -10 =20 -11 =19 +BYE
26 -15 +BYE -10 -21 -22 -20
27 -2 -6 -7 -20 +BYE -23
"""
MARKS = {"+": "1 0", "=": "½ ½", "-": "0 1"}


def hamilton() -> TieBreakTable:
    fixtures = []
    for line in HAMILTON.strip().splitlines():
        own, *results = line.split()
        for r, (mark, other) in enumerate((word[0], word[1:]) for word in results):
            if other == "BYE":
                point = MARKS[mark].split()[0]
                fixtures.append(fixture(r, int(own), [int(own)], point, ResultKind.BYE))
            elif int(own) < int(other):
                pair = (int(own), int(other))
                fixtures.append(fixture(r, int(own), pair, MARKS[mark]))
    return TieBreakTable(entrants(27), fixtures, SWISS_BREAKS)


def test_buchholz_and_sonneborn_berger_decide_a_club_championship() -> None:
    table = hamilton()

    assert [table.records[key].points for key in (1, 2)] == [Fraction("5.5")] * 2
    assert table.value(TieBreak.BUCHHOLZ, 1, ()) == Fraction("22.5")
    assert table.value(TieBreak.BUCHHOLZ, 2, ()) == Fraction("20")
    assert table.value(TieBreak.SONNEBORN_BERGER, 1, ()) == Fraction("19.75")
    assert table.value(TieBreak.SONNEBORN_BERGER, 2, ()) == Fraction("17.25")
    assert table.rank_groups[:2] == [[1], [2]]
    assert table.explain(1, 2) == [
        "points: both 5½",
        "direct encounter (points against each other): both ½",
        "Buchholz (sum of the opponents' points): 22½ against 20",
    ]


def against(*points: int) -> TieBreakTable:
    """Let entrant 1 draw with opponents who end with these points."""
    table = TieBreakTable(entrants(1 + len(points)), [], SWISS_BREAKS)
    for key, total in enumerate(points, 2):
        table.records[1].drawn.append(key)
        table.records[key].points = Fraction(total)
    return table


def test_median_buchholz_of_the_worked_example_by_rapptz() -> None:
    """gist.github.com/Rapptz/197c80162358d1196145: 4 2 3 4 5 6 give 16."""
    table = against(4, 2, 3, 4, 5, 6)

    assert table.value(TieBreak.MEDIAN_BUCHHOLZ, 1, ()) == 16


def test_buchholz_of_the_worked_examples_of_two_clubs() -> None:
    """sktroisdorf.de, "Buchholz-Wertung" (13); tifu.info, FAQ (9 and 5)."""
    examples = [((5, 3, 2, 2, 1, 0), 13), ((3, 2, 2, 2), 9), ((3, 1, 1, 0), 5)]
    for points, expected in examples:
        assert against(*points).value(TieBreak.BUCHHOLZ, 1, ()) == expected


# Other rules.


def test_a_bye_counts_as_an_opponent_with_ones_own_points() -> None:
    fixtures = [
        fixture(1, 0, (1, 2), "1 0"),
        fixture(1, 1, (3,), "1", ResultKind.BYE),
        fixture(2, 0, (1, 3), "1 0"),
        fixture(2, 1, (2,), "1", ResultKind.BYE),
    ]
    table = TieBreakTable(entrants(3), fixtures, SWISS_BREAKS)

    assert table.value(TieBreak.BUCHHOLZ, 2, ()) == 2 + 1
    assert table.value(TieBreak.SONNEBORN_BERGER, 2, ()) == 1


def test_direct_encounter_counts_only_if_all_have_met() -> None:
    fixtures = [
        fixture(1, 0, (1, 2), "0 1"),
        fixture(1, 1, (3, 4), "1 0"),
        fixture(2, 0, (1, 4), "1 0"),
    ]
    table = TieBreakTable(entrants(4), fixtures, (TieBreak.DIRECT_ENCOUNTER,))

    assert table.rank_groups == [[1, 2, 3], [4]]
    assert table.explain(1, 2)[-1] == ("nothing separates them: they share the rank")


def test_at_a_table_of_four_everybody_has_met_everybody() -> None:
    table = TieBreakTable(
        entrants(4), [fixture(1, 0, (1, 2, 3, 4), "1 ½ ½ 0")], SWISS_BREAKS
    )

    assert table.value(TieBreak.SONNEBORN_BERGER, 2, ()) == Fraction(1, 4)
    assert table.value(TieBreak.BUCHHOLZ, 4, ()) == 2
    assert [line.rank for line in table.lines] == [1, 2, 2, 4]


def test_after_a_shared_rank_the_next_one_is_left_out() -> None:
    lines = TieBreakTable(entrants(3), [fixture(1, 0, (2, 3), "½ ½")], ()).lines

    assert [(line.key, line.rank) for line in lines] == [(2, 1), (3, 1), (1, 3)]


def test_any_two_entrants_can_be_explained() -> None:
    table = hamilton()
    for one, two in combinations(range(1, 28), 2):
        assert table.explain(one, two)


def test_points_are_written_as_people_write_them() -> None:
    values = [Fraction(n, d) for n, d in ((3, 1), (1, 2), (25, 2), (-1, 2), (7, 3))]

    assert [format_points(v) for v in values] == ["3", "½", "12½", "-½", "2.33"]
