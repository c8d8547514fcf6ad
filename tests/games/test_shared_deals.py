"""Matches that share a deal have one seed, and it stays secret until all have ended."""

import pytest

from ladder.games import services, visibility
from ladder.games.models import Game, Match
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.games.worker.play import play
from tests.games import factories

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("scripted_players"),
]


def share(*sizes: int) -> list[Match]:
    """Plan matches of new bots together, with these numbers of seats."""
    planned = []
    for number, seats in enumerate(sizes):
        bots = [factories.bot(f"bot-{number}-{seat}") for seat in range(seats)]
        seated = [factories.newest(bot) for bot in bots]
        planned.append(PlannedMatch(factories.TERMS, seated))
    return services.schedule_matches(Match.Kind.CHALLENGE, planned, shared_deals=True)


def finish(match: Match) -> Game:
    game = match.games.get()
    play(game.pk, factories.worker())
    return visibility.games().get(pk=game.pk)


def test_matches_of_one_size_share_a_deal() -> None:
    a, b, c, d, alone = share(2, 3, 2, 3, 4)
    for match in (a, b, c, d, alone):
        match.refresh_from_db()
    assert a.seed == c.seed
    assert b.seed == d.seed
    assert len({a.seed, b.seed, alone.seed}) == 3
    assert [m.deal_of_id for m in (a, c, b, d)] == [a.pk, a.pk, b.pk, b.pk]
    assert alone.deal_of_id is None


def test_matches_with_other_rules_have_other_decks() -> None:
    seated = [factories.newest(bot) for bot in factories.bots(2)]
    other = MatchTerms("yucata", {"start_player": "seat0"}, factories.LIMITS)
    planned = [PlannedMatch(factories.TERMS, seated), PlannedMatch(other, seated)]
    one, two = services.schedule_matches(
        Match.Kind.CHALLENGE, planned, shared_deals=True
    )
    assert one.seed != two.seed


def test_nothing_is_shown_before_all_games_with_the_decks_have_ended() -> None:
    first, second = share(2, 2)
    ended = finish(first)
    with pytest.raises(visibility.NotOver, match="same decks"):
        visibility.replay(ended)
    assert not list(visibility.public_replays([ended.pk]))
    assert all(match.open for match in visibility.matches())  # type: ignore[attr-defined]
    with pytest.raises(visibility.NotOver, match="same decks"):
        visibility.moves_so_far(second.games.get())
    assert not visibility.watchable_games()
    finish(second)
    assert visibility.replay(ended)
    assert len(list(visibility.public_replays([ended.pk]))) == 1
    assert not any(match.open for match in visibility.matches())  # type: ignore[attr-defined]
