"""SQLite as it is set up here: players and readers at once, and nobody is refused."""

import threading
from collections.abc import Callable

import pytest
from django.db import Error, connection

from ladder.games import selectors, workers
from ladder.games.models import Game
from ladder.games.play import play
from ladder.ratings import rater, selectors as ratings, services
from ladder.ratings.models import Season
from tests.games import cast

READS_A_SECOND = 100
"""By all readers together: they share an interpreter with the players."""


class Crowd:
    """Threads that play and threads that read, until all games were played."""

    def __init__(self, season: Season, games: int) -> None:
        self.season, self.done = season, threading.Event()
        services.pair(season, games)
        self.games = list(Game.objects.values_list("pk", flat=True))
        self.worker = workers.here()
        self.refused: list[str] = []
        self.pause_s = 0.0

    def play_one(self) -> None:
        play(self.games.pop(), self.worker)
        rater.fold(self.season.pk)

    def read(self) -> None:
        list(ratings.leaderboard(self.season)[:50])
        selectors.tally()
        self.done.wait(self.pause_s)

    def repeat(self, what: Callable[[], None], over: Callable[[], bool]) -> None:
        while not over():
            try:
                what()
            except Error as error:
                self.refused.append(str(error))
            except IndexError:
                return  # another one took the last game
            connection.close()

    def run(self, players: int, readers: int) -> None:
        self.pause_s = readers / READS_A_SECOND

        def start(
            what: Callable[[], None], over: Callable[[], bool]
        ) -> threading.Thread:
            thread = threading.Thread(target=self.repeat, args=(what, over))
            thread.start()
            return thread

        read = [start(self.read, self.done.is_set) for _ in range(readers)]
        played = [start(self.play_one, lambda: not self.games) for _ in range(players)]
        for thread in played:
            thread.join()
        self.done.set()
        for thread in read:
            thread.join()


def assert_nobody_is_refused(games: int, players: int, readers: int) -> None:
    season = services.ensure_default_ladder().seasons.get()
    cast.bots(6)
    rater.welcome(season.pk)
    crowd = Crowd(season, games)

    crowd.run(players, readers)

    assert crowd.refused == []
    assert selectors.tally().finished == games


@pytest.mark.django_db(transaction=True)
def test_players_and_readers_do_not_lock_each_other_out(settings):
    settings.TORRES_OPEN_PLAYER = "ladder.ops.scripted.open_player"

    assert_nobody_is_refused(games=20, players=4, readers=12)
