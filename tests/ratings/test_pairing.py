from random import Random

from hypothesis import HealthCheck, given, settings, strategies as st

from ladder.ratings.core.pairing import (
    NEWCOMER_GAMES,
    Matchmaker,
    PairingTerms,
    seats_by_lag,
)
from ladder.ratings.core.pool import BotProfile

crowd = st.lists(
    st.builds(
        BotProfile,
        bot=st.integers(1, 10**6),
        name=st.just("bot"),
        submission=st.integers(1, 10**6),
        owner=st.integers(1, 5),
        mu=st.floats(0, 50),
        sigma=st.floats(0.5, 9),
        games=st.integers(0, 100),
        fresh=st.integers(0, 100),
        streak=st.integers(0, 9),
    ),
    max_size=12,
    unique_by=lambda candidate: candidate.bot,
)
DUELS = {"2": 1.0}


def bot(number: int, mu: float = 25.0, sigma: float = 4.0, **more) -> BotProfile:
    owner = more.pop("owner", number)
    games = {"games": 100, "fresh": 100} | more
    return BotProfile(number, f"bot-{number}", number, owner, mu, sigma, **games)


def maker(field, shares=DUELS, seed=1, **terms) -> Matchmaker:
    made = Matchmaker(PairingTerms(shares, **terms), Random(seed))
    made.pool.fill(field)
    return made


def sitting(table) -> set[int]:
    return {candidate.bot for candidate in table.seats}


# A busy machine draws slowly; that says nothing of what is drawn.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(crowd, st.integers(2, 4), st.integers())
def test_nobody_meets_a_bot_of_the_same_owner(field, seats, seed):
    table = maker(field, {str(seats): 1.0}, seed).next_seating()

    owners = {candidate.owner for candidate in field}
    assert (table is None) == (len(owners) < seats)
    if table:
        assert len(table.seats) == seats
        assert len({candidate.owner for candidate in table.seats}) == seats


def test_who_played_least_is_first_and_meets_a_neighbour():
    field = [bot(1, 40), bot(2, 10), bot(3, 24), bot(4, 25, games=95)]

    table = maker(field).next_seating()

    assert sitting(table) == {3, 4}
    assert table.why["first"]["bot"] == 4
    assert table.why["others"][0]["bot"] == 3
    assert table.why["others"][0]["apart"] == 1
    assert 0.5 < table.why["others"][0]["chance"] < 0.6


def test_of_two_neighbours_the_unknown_one_tells_more():
    field = [bot(1, 25, games=95), bot(2, 24, sigma=1), bot(3, 26, sigma=5)]

    assert sitting(maker(field).next_seating()) == {1, 3}


def test_the_reasons_are_given_in_words():
    first, second = (
        maker([bot(1, games=3, fresh=3), bot(2)]).next_seating().why["reasons"]
    )

    assert first == "It was the turn of bot-1 (3 games, 3 with this upload)"
    assert second.startswith("bot-2 is 0.0 points apart and loses to bot-1 with 50%")
    assert second.endswith("not met lately")


def test_those_who_met_often_meet_others():
    made = maker([bot(k) for k in (1, 2, 3)])
    for _ in range(9):
        made.remember([1, 2])
        made.remember([1, 3])
    made.remember([2, 1])
    pairs = [sitting(made.next_seating()) for _ in range(2)]

    assert {2, 3} in pairs


def test_a_new_upload_plays_more_often_until_it_is_known():
    made = maker([bot(0, fresh=0), *(bot(k) for k in range(1, 40))])
    played = 0
    for _ in range(60):
        played += 0 in sitting(made.next_seating())

    assert played > 3 * 2 * 60 / 40


def test_a_crashing_bot_never_plays_twice_at_once_and_waits_for_each_game():
    made = maker([bot(1, streak=4), *(bot(k) for k in range(2, 7))])
    while 1 not in sitting(made.next_seating()):
        pass
    assert all(1 not in sitting(made.next_seating()) for _ in range(20))

    played = 0
    for _ in range(60):
        made.game_ended(1)
        played += 1 in sitting(made.next_seating())
    assert played <= 0.5 * 2 * 60 / 6


def test_who_comes_late_does_not_get_all_that_it_missed():
    made = maker([bot(k, games=1000) for k in range(1, 20)])
    made.update(bot(99, games=0, fresh=NEWCOMER_GAMES))
    played = 0
    for _ in range(100):
        played += 99 in sitting(made.next_seating())

    assert played <= 10 + 2 * 2 * 100 / 20


def test_tables_follow_their_shares():
    made: dict[int, int] = {}
    for _ in range(100):
        seats = seats_by_lag({"2": 0.4, "3": 0.2, "4": 0.4}, made)[0]
        made[seats] = made.get(seats, 0) + 1

    assert made == {2: 40, 3: 20, 4: 40}


def test_everybody_plays_about_as_often_and_sits_everywhere_as_often():
    made = maker([bot(k, mu=float(k)) for k in range(30)], {"4": 1.0}, seed=7)
    for _ in range(300):
        made.next_seating()

    players = [made.pool[k] for k in range(30)]
    for player in players:
        seats = [player.seat_counts[4, seat] for seat in range(4)]
        assert 0.6 * 40 <= sum(seats) <= 1.7 * 40
        assert max(seats) - min(seats) <= 2


def test_a_duplicate_match_costs_as_many_turns_as_it_has_games():
    made = maker([bot(1), bot(2)], duplicate=True)
    before = made.pool[1].turns
    made.next_seating()

    assert made.pool[1].turns == before + 2
    assert made.pool[1].open_games == 2
