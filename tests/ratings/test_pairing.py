from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings, strategies as st

from torres.rating.pairing import NEWCOMER_GAMES, Matchmaker, PairingTerms, seats_by_lag
from torres.rating.pool import BotProfile

profile_lists = st.lists(
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
        latest=st.integers(0, 1023),
    ),
    max_size=12,
    unique_by=lambda profile: profile.bot,
)
DUELS = {"2": 1.0}


def bot(number: int, mu: float = 25.0, sigma: float = 4.0, **more) -> BotProfile:
    owner = more.pop("owner", number)
    games = {"games": 100, "fresh": 100} | more
    return BotProfile(number, f"bot-{number}", number, owner, mu, sigma, **games)


def new_matchmaker(profiles, shares=DUELS, seed=1, **terms) -> Matchmaker:
    matchmaker = Matchmaker(PairingTerms(shares, **terms), Random(seed))
    matchmaker.pool.fill(profiles)
    return matchmaker


def seated(seating) -> set[int]:
    return {profile.bot for profile in seating.seats}


# On a busy machine examples are drawn slowly, which is no reason to fail.
@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(profile_lists, st.integers(2, 4), st.integers())
def test_bots_of_one_owner_never_meet(profiles, seats, seed):
    seating = new_matchmaker(profiles, {str(seats): 1.0}, seed).next_seating()

    owners = {profile.owner for profile in profiles}
    assert (seating is None) == (len(owners) < seats)
    if seating:
        assert len(seating.seats) == seats
        assert len({profile.owner for profile in seating.seats}) == seats


def test_the_bot_with_the_fewest_games_is_first_and_meets_a_neighbour():
    profiles = [bot(1, 40), bot(2, 10), bot(3, 24), bot(4, 25, games=95)]

    seating = new_matchmaker(profiles).next_seating()

    assert seated(seating) == {3, 4}
    assert seating.why["first"]["bot"] == 4
    assert seating.why["others"][0]["bot"] == 3
    assert seating.why["others"][0]["apart"] == 1
    assert 0.5 < seating.why["others"][0]["chance"] < 0.6


def test_of_two_neighbours_the_less_known_one_is_chosen():
    profiles = [bot(1, 25, games=95), bot(2, 24, sigma=1), bot(3, 26, sigma=5)]

    assert seated(new_matchmaker(profiles).next_seating()) == {1, 3}


def test_the_reasons_are_given_in_words():
    first, second = (
        new_matchmaker([bot(1, games=3, fresh=3), bot(2)]).next_seating().why["reasons"]
    )

    assert first == "bot-1 was next in line (3 games, 3 with this upload)"
    assert second.startswith(
        "bot-2 is 0.0 points apart; bot-1 beats it with a probability of 50%"
    )
    assert second.endswith("they have not met lately")


def test_bots_that_met_often_meet_others():
    matchmaker = new_matchmaker([bot(k) for k in (1, 2, 3)])
    for _ in range(9):
        matchmaker.remember([1, 2])
        matchmaker.remember([1, 3])
    matchmaker.remember([2, 1])
    pairs = [seated(matchmaker.next_seating()) for _ in range(2)]

    assert {2, 3} in pairs


def test_a_new_upload_plays_more_often_until_it_is_known():
    matchmaker = new_matchmaker([bot(0, fresh=0), *(bot(k) for k in range(1, 40))])
    played = 0
    for _ in range(60):
        bots = seated(matchmaker.next_seating())
        played += 0 in bots
        for number in bots:
            matchmaker.game_ended(number)

    assert played > 3 * 2 * 60 / 40


def test_a_crashing_bot_never_plays_twice_at_once_and_waits_for_each_game():
    matchmaker = new_matchmaker([bot(1, latest=0b1111), *(bot(k) for k in range(2, 7))])
    while 1 not in seated(matchmaker.next_seating()):
        pass
    assert all(1 not in seated(matchmaker.next_seating()) for _ in range(20))

    played = 0
    for _ in range(60):
        matchmaker.game_ended(1)
        played += 1 in seated(matchmaker.next_seating())
    assert played <= 0.5 * 2 * 60 / 6


def test_new_bots_of_one_owner_play_few_games_at_once_all_together():
    """Otherwise five hostile bots hold all slots before anybody knows them."""
    hostile = [bot(k, owner=1, fresh=0) for k in range(1, 6)]
    known = [bot(k) for k in range(6, 30)]
    matchmaker = new_matchmaker([*hostile, *known])

    seatings = [seated(matchmaker.next_seating()) for _ in range(40)]

    assert sum(bool(seats & {1, 2, 3, 4, 5}) for seats in seatings) == 2
    matchmaker.game_ended(min(set.union(*seatings) & {1, 2, 3, 4, 5}))
    later = set.union(*(seated(matchmaker.next_seating()) for _ in range(5)))
    assert later & {1, 2, 3, 4, 5}


def test_new_house_bots_and_known_bots_may_play_many_games_at_once():
    matchmaker = new_matchmaker([bot(1, fresh=0, house=True), bot(2)])

    assert all(seated(matchmaker.next_seating()) == {1, 2} for _ in range(20))


def test_attempts_that_fail_in_a_seat_are_turns_of_its_bot():
    """Otherwise a bot that breaks each of its games is the next one for ever."""
    matchmaker = new_matchmaker([bot(1, fresh=0, games=0), *map(bot, range(2, 40))])
    played = 0
    for _ in range(60):
        bots = seated(matchmaker.next_seating())
        for number in bots:
            matchmaker.game_ended(number)
        if 1 in bots:
            played += 1
            for _ in range(4):
                matchmaker.charge_unrated(1, submission=1, turns=1.0)

    assert played <= 2 * 2 * 60 / 39


def test_a_new_version_is_not_charged_for_the_one_before_it():
    matchmaker = new_matchmaker([bot(1), bot(2)])
    matchmaker.charge_unrated(1, submission=1, turns=1.0)
    assert matchmaker.pool[1].unrated == 1

    matchmaker.charge_unrated(1, submission=77, turns=1.0)
    assert matchmaker.pool[1].unrated == 1
    matchmaker.update(replace(bot(1), submission=2))
    assert matchmaker.pool[1].unrated == 0


def test_a_late_bot_does_not_catch_up_on_all_games():
    matchmaker = new_matchmaker([bot(k, games=1000) for k in range(1, 20)])
    matchmaker.update(bot(99, games=0, fresh=NEWCOMER_GAMES))
    played = 0
    for _ in range(100):
        played += 99 in seated(matchmaker.next_seating())

    assert played <= 10 + 2 * 2 * 100 / 20


def test_numbers_of_seats_follow_their_shares():
    made: dict[int, int] = {}
    for _ in range(100):
        seats = seats_by_lag({"2": 0.4, "3": 0.2, "4": 0.4}, made)[0]
        made[seats] = made.get(seats, 0) + 1

    assert made == {2: 40, 3: 20, 4: 40}


def test_all_bots_play_about_as_often_and_have_each_seat_as_often():
    matchmaker = new_matchmaker(
        [bot(k, mu=float(k)) for k in range(30)], {"4": 1.0}, seed=7
    )
    for _ in range(300):
        matchmaker.next_seating()

    for candidate in [matchmaker.pool[k] for k in range(30)]:
        seats = [candidate.seat_counts[4, seat] for seat in range(4)]
        assert 0.6 * 40 <= sum(seats) <= 1.7 * 40
        assert max(seats) - min(seats) <= 2


def test_a_duplicate_match_costs_as_many_turns_as_it_has_games():
    matchmaker = new_matchmaker([bot(1), bot(2)], duplicate=True)
    before = matchmaker.pool[1].turns
    matchmaker.next_seating()

    assert matchmaker.pool[1].turns == before + 2
    assert matchmaker.pool[1].open_games == 2


def crowd(count: int) -> Matchmaker:
    """Return a matchmaker whose bots have used different numbers of turns."""
    matchmaker = new_matchmaker(bot(k, mu=k % 50) for k in range(1, count + 1))
    for k in range(1, count + 1):
        matchmaker.pool.charge(matchmaker.pool[k], k % 13)
    return matchmaker


def matches_until_all_have_played(
    matchmaker: Matchmaker, bots: set[int], games: int
) -> int:
    """Make matches until each of the bots had its games; return how many it took."""
    played = dict.fromkeys(bots, 0)
    for made in range(1, 20 * len(bots) * games):
        profiles = matchmaker.next_seating().seats
        for profile in profiles:
            if profile.bot in played:
                played[profile.bot] += 1
            # The game ends at once, and is rated.
            matchmaker.game_ended(profile.bot)
            fresh = profile.fresh + 1
            matchmaker.update(replace(profile, games=profile.games + 1, fresh=fresh))
        if min(played.values()) >= games:
            return made
    raise AssertionError(f"after {made} matches some bots had too few games: {played}")


def test_newcomers_play_their_first_games_at_once_whatever_the_field():
    """They entered ten turns behind the median, behind all newcomers before them."""
    for field_size in (30, 300, 1500):
        matchmaker = crowd(field_size)
        newcomers = {field_size + k for k in range(1, 201)}
        for number in newcomers:
            matchmaker.update(bot(number, games=0, fresh=0))

        # Each match has at least one of the newcomers whose turn it is.
        assert matches_until_all_have_played(matchmaker, newcomers, 1) <= 200
        assert matches_until_all_have_played(matchmaker, newcomers, 4) <= 4 * 200


def test_a_newcomer_is_not_behind_the_newcomers_before_it():
    """Those have had some games already; their turn comes after its first game."""
    matchmaker = crowd(300)
    for number in range(1001, 1201):
        matchmaker.update(bot(number, games=0, fresh=0))
        assert matches_until_all_have_played(matchmaker, {number}, 1) <= 2


def test_a_restart_forgets_no_newcomer():
    known = [bot(k, games=50 * k) for k in range(1, 100)]
    newcomers = [bot(500 + k, games=k, fresh=k) for k in range(10)]
    matchmaker = new_matchmaker([*known, *newcomers])

    numbers = {profile.bot for profile in newcomers}
    # The newest one first plays as many games as the others have: 45 in all.
    assert matches_until_all_have_played(matchmaker, numbers, 3) <= 45 + 3 * 10
