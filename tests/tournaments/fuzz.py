"""Random actions of organisers, players, workers and operators on one tournament.

A sequence creates a tournament from a random description, often a wrong one, or starts
one with random entrants. Then it acts at random: in any order, with wrong values, with
results that tie, with dead and voided games. Every action may be refused with a
`LadderError`; any other error is a fault. After each action the tournament must tick,
and everything that is shown must be computable. At the end the games are played out,
and the result is checked.

The games get random results directly in the database, so that thousands of sequences
take minutes.
"""

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

from django.db import transaction
from django.test import Client
from django.utils import timezone

from ladder.bots.models import Bot
from ladder.games import services as game_services
from ladder.games.models import OPEN, Game, GameStatus, Seat, tied_ranks
from ladder.moderation import bots as moderation
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings import operations
from ladder.tournaments import (
    corrections,
    organising,
    selectors,
    services,
    visibility,
)
from ladder.tournaments.description import problems
from ladder.tournaments.models import Tournament, TournamentStatus
from tests.games.factories import LIMITS, submission
from tests.tournaments.factories import tick
from torres.common.errors import LadderError
from torres.formats.config import ELIMINATIONS, Format

MAX_ACTIONS = 14
MAX_STEPS_TO_THE_END = 200
STARTED_SHARE = 0.8
LOOKS_SHARE = 0.3
PAGES_SHARE = 0.1
OPERATOR = Operator(None, "fuzz")
WRONG: list[Any] = [None, [], [2], "", "fast", -1, 0, 10**30, 1.5, True, {}, {"two": 1}]
SLUG = "cup"


class Sequence:
    """One sequence of random actions; the same seed always gives the same one."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.client = Client()
        self.trace: list[str] = []
        self.voided_late = False
        self.cup = self._create()
        self.actions: dict[Callable[[], object], int] = {
            self.enter: 10,
            self.withdraw: 3,
            self.check_in: 4,
            self.set_seed: 2,
            self.edit: 3,
            self.announce: 4,
            self.close_entry: 2,
            self.start: 5,
            self.cancel: 1,
            self.reveal: 3,
            self.let_time_pass: 2,
            self.play: 16,
            self.let_games_die: 3,
            self.void: 4,
            self.rerun: 3,
            self.cancel_game: 1,
            self.ban: 1,
            self.bench: 1,
            self.reinstate: 1,
            self.upload: 1,
            self.give_up: 2,
        }

    def run(self) -> None:
        """Act, tick and look, then play to the end. Nothing is left in the database."""
        with transaction.atomic():
            if self.rng.random() < STARTED_SHARE:
                self.attempt(self.begin)
            for _ in range(self.rng.randrange(4, MAX_ACTIONS)):
                act = self._choose(self.actions)
                self.attempt(act)
                self.step()
            self.play_to_the_end()
            if self.rng.random() < PAGES_SHARE:
                self.read_pages()
            transaction.set_rollback(True)

    def begin(self) -> None:
        """Start the tournament with some of the bots."""
        self.cup.config = self._config()
        self.cup.limits = LIMITS
        self.cup.must_check_in = False
        self.cup.save()
        services.announce(self.cup)
        bots = list(Bot.objects.order_by("pk"))
        for bot in self.rng.sample(bots, self.rng.randrange(2, len(bots) + 1)):
            services.enter(self.cup, bot)
        services.start(self.cup)

    def attempt(self, act: Callable[[], object]) -> None:
        """Act; a refusal is no fault."""
        self.trace.append(act.__name__)
        try:
            act()
        except LadderError as refusal:
            self.trace[-1] += f" refused: {refusal}"

    def step(self) -> None:
        tick(self.rng.choice([1, 3, 50]))
        self.cup.refresh_from_db()
        if self.rng.random() < LOOKS_SHARE:
            self.look()

    def look(self) -> None:
        """Compute everything that is shown."""
        visibility.overview(self.cup)
        visibility.rounds(self.cup, range(30))
        order = visibility.standings(self.cup)
        started = selectors.seeded_entrants(self.cup)
        assert (order is None) == (not started), "standings are not computable"

    def _choose(self, weights: dict[Callable[[], object], int]) -> Callable[[], object]:
        return self.rng.choices(list(weights), list(weights.values()))[0]

    # The description.

    def _create(self) -> Tournament:
        row = Tournament(slug=SLUG, name="Cup", **self._description())
        if problems(row.description()):  # a form refuses it
            row.config = self._config()
            row.limits = LIMITS
        return row

    def _description(self) -> dict[str, Any]:
        rng = self.rng
        return {
            "config": self._config() if rng.random() < 0.9 else self._wrong_config(),
            "limits": LIMITS if rng.random() < 0.95 else rng.choice(WRONG),
            "must_check_in": rng.random() < 0.2,
            "held_back": rng.random() < 0.3,
        }

    def _config(self) -> dict[str, Any]:
        rng = self.rng
        form = rng.choice(list(Format))
        config: dict[str, Any] = {
            "format": str(form),
            "rounds": rng.choice([0, 1, 2, 3]),
            "best_of": rng.choice([1, 1, 3]),
            "best_of_final": rng.choice([1, 3]),
            "reset": rng.random() < 0.5,
            "groups": rng.choice([1, 2, 3]),
            "advance": rng.choice([1, 2, 3]),
            "final": str(rng.choice(ELIMINATIONS)),
            "duplicate": rng.random() < 0.4,
        }
        if form not in ELIMINATIONS:
            config["seats"] = rng.choice([2, 2, 3, 4])
            if rng.random() < 0.2:
                config["points"] = [5, 3, 1, 0][: config["seats"]]
        return config

    def _wrong_config(self) -> Any:
        if self.rng.random() < 0.3:
            return self.rng.choice(WRONG)
        config = self._config()
        config[self.rng.choice([*config, "formt"])] = self.rng.choice(WRONG)
        return config

    def edit(self) -> None:
        rng = self.rng
        now = timezone.now()
        values = {
            "name": "New name",
            "config": rng.choice([self._config, self._wrong_config])(),
            "limits": rng.choice([LIMITS, {**LIMITS, "move_ms": "fast"}, *WRONG]),
            "ruleset": rng.choice(["yucata", "nope"]),
            "switches": rng.choice([{}, {"nope": 1}, *WRONG]),
            "held_back": rng.random() < 0.5,
            "opens_at": now + timedelta(hours=rng.randrange(-3, 3)),
            "closes_at": now + timedelta(hours=rng.randrange(-3, 3)),
            "starts_at": now + timedelta(hours=rng.randrange(-3, 3)),
        }
        changes = {name: values[name] for name in values if rng.random() < 0.2}
        self.trace[-1] += f" {changes}"
        services.edit(self.cup, changes)

    # The organiser.

    def announce(self) -> None:
        services.announce(self.cup)

    def close_entry(self) -> None:
        services.close_entry(self.cup)

    def start(self) -> None:
        services.start(self.cup)

    def cancel(self) -> None:
        services.cancel(self.cup)

    def reveal(self) -> None:
        services.reveal_next(self.cup)

    def let_time_pass(self) -> None:
        """Move a scheduled time to the past, as waiting would."""
        name = self.rng.choice(["opens_at", "closes_at", "starts_at"])
        past = timezone.now() - timedelta(seconds=1)
        status = [TournamentStatus.ENTRY, TournamentStatus.CHECK_IN]
        Tournament.objects.filter(slug=SLUG, status__in=status).update(**{name: past})

    # Players.

    def enter(self) -> None:
        for _ in range(self.rng.randrange(1, 6)):
            seed = self.rng.choice([None, None, 1, 2])
            bot = self.rng.choice(list(Bot.objects.order_by("pk")))
            services.enter(self.cup, bot, seed=seed)

    def withdraw(self) -> None:
        services.withdraw(self._entrant())

    def check_in(self) -> None:
        for _ in range(self.rng.randrange(1, 4)):
            services.check_in(self._entrant())

    def set_seed(self) -> None:
        entrant = self._entrant()
        seed = self.rng.choice([None, 1, 2, 99])
        organising.set_seeds(OPERATOR, self.cup, {entrant.bot.slug: seed})

    def upload(self) -> None:
        submission(self._bot())

    def _entrant(self) -> Any:
        rows = list(self.cup.entrants.order_by("pk"))
        if not rows:
            raise services.NotEntered("nobody has entered")
        return self.rng.choice(rows)

    def _bot(self) -> Bot:
        return self.rng.choice(list(Bot.objects.order_by("pk")))

    # Workers.

    def play(self, share: float = 0.6) -> int:
        """Give most of the open games a random result, or all with a share of 1."""
        games = [
            game
            for game in Game.objects.filter(status__in=OPEN).order_by("pk")
            if self.rng.random() < share
        ]
        for game in games:
            self._finish(game)
        return len(games)

    def _finish(self, game: Game) -> None:
        seats = list(game.seats.order_by("number"))
        scores = [self.rng.choice([10, 20, 30, 40]) for _ in seats]
        ranks = [1 + sum(other > score for other in scores) for score in scores]
        results = zip(seats, scores, ranks, tied_ranks(ranks), strict=True)
        for seat, score, rank, tied in results:
            Seat.objects.filter(pk=seat.pk).update(
                score=score,
                rank=rank,
                tied=tied,
                fault="crash" if self.rng.random() < 0.1 else "",
            )
        Game.objects.filter(pk=game.pk).update(
            status=GameStatus.FINISHED,
            finished_at=timezone.now(),
            replay=b"{}",
            reason="completed",
        )

    def let_games_die(self) -> None:
        for game in Game.objects.filter(status__in=OPEN).order_by("pk"):
            if self.rng.random() < 0.4:
                Game.objects.filter(pk=game.pk).update(status=GameStatus.DEAD)

    # Operators.

    def void(self) -> None:
        self.voided_late |= self.cup.status == TournamentStatus.FINISHED
        operations.void(OPERATOR, self._game(GameStatus.FINISHED))

    def rerun(self) -> None:
        self.voided_late |= self.cup.status == TournamentStatus.FINISHED
        operations.rerun(OPERATOR, self._game(GameStatus.DEAD, GameStatus.FINISHED))

    def cancel_game(self) -> None:
        game_services.cancel(self._game(GameStatus.SCHEDULED), "fuzz")

    def _game(self, *statuses: GameStatus) -> int:
        games = Game.objects.filter(status__in=statuses).order_by("pk")
        rows = list(games.values_list("pk", flat=True))
        return self.rng.choice(rows) if rows else 10**9

    def ban(self) -> None:
        moderation.set_aside(OPERATOR, self._bot(), AuditEntry.Kind.BAN)

    def bench(self) -> None:
        moderation.set_aside(OPERATOR, self._bot(), AuditEntry.Kind.BENCH)

    def reinstate(self) -> None:
        for bot in Bot.objects.exclude(status=Bot.Status.ACTIVE):
            moderation.reinstate(OPERATOR, bot)

    def give_up(self) -> None:
        rows = list(selectors.fixtures_with_dead_games(self.cup))
        for fixture in rows:
            corrections.give_up(fixture)

    # Everything that is shown.

    def read_pages(self) -> None:
        base = f"/api/v1/tournaments/{SLUG}/"
        parts = ("entrants", "rounds", "bracket", "standings", "games")
        for address in [
            base,
            *(f"{base}{part}/" for part in parts),
            f"/tournaments/{SLUG}/",
            "/tournaments/",
        ]:
            status = self.client.get(address).status_code
            expected = {200, 404} if self.cup.status == "draft" else {200}
            assert status in expected, f"{address} answers {status}"

    # The end.

    def play_to_the_end(self) -> None:
        """Play all games. A tournament that runs must end, with sound standings."""
        for _ in range(MAX_STEPS_TO_THE_END):
            if self.cup.status != TournamentStatus.RUNNING:
                break
            self.trace.append("play on")
            self.play(1.0)
            self.give_up_for_good()
            self.step()
        assert self.cup.status != TournamentStatus.RUNNING, "it never ends"
        if self.cup.status == TournamentStatus.FINISHED:
            self.check_result()

    def give_up_for_good(self) -> None:
        for fixture in selectors.fixtures_for_operators():
            self.attempt(lambda row=fixture: corrections.give_up(row))  # type: ignore[misc]

    def check_result(self) -> None:
        """Check the standings, and that each result is that of the games."""
        assert not self.cup.fixtures.filter(how="").exists(), "an open fixture is left"
        Tournament.objects.update(held_back=False)
        self.cup.refresh_from_db()
        order = visibility.standings(self.cup)
        assert order is not None
        started = selectors.seeded_entrants(self.cup)
        keys = sorted(line.key for line in order.lines)
        assert keys == sorted(entrant.key for entrant in started)
        ranks = [line.rank for line in order.lines]
        assert ranks == sorted(ranks)
        assert ranks[0] == 1
        left = {entrant.key for entrant in started if entrant.left}
        if order.config.format in (Format.ROUND_ROBIN, Format.SWISS):
            stayed = [line.key not in left for line in order.lines]
            assert stayed == sorted(stayed, reverse=True), "a leaver ranks too high"
        # A game that is voided after the end changes nothing any more.
        if order.config.format == Format.ROUND_ROBIN and not self.voided_late:
            records = selectors.fixture_records(self.cup)
            rows = self.cup.fixtures.filter(how="played").exclude(
                match__games__status__in=OPEN
            )
            for row in rows:
                result = selectors.result_of_match(row, order.config)
                assert result == records[row.pk].result, "not the result of its games"


def run_sequence(seed: int) -> None:
    """Run one sequence; name its seed and its actions if it finds a fault."""
    sequence = Sequence(seed)
    try:
        with transaction.atomic():
            sequence.cup.save()
            sequence.run()
            transaction.set_rollback(True)
    except Exception as error:
        actions = "\n  ".join(sequence.trace)
        message = f"sequence {seed} ({sequence.cup.config}):\n  {actions}"
        raise AssertionError(message) from error
