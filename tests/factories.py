"""Rows for tests of pages and API: bots, matches with played games, a rated ladder.

The functions write directly into the tables, so that these tests need no dispatcher, no
worker and no rater.
"""

import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from engine import referee
from engine.game import TorresGame as Torres
from engine.referee import Answer, Ask, QuietPlayer
from engine.rulesets import resolve
from engine.setup import derive
from ladder.bots import services, submissions
from ladder.bots.models import Bot, Submission
from ladder.events import outbox
from ladder.events.models import Fact
from ladder.events.outbox import NewLeaf
from ladder.games import facts, replays
from ladder.games.models import (
    Attempt,
    Game,
    GameStatus,
    Match,
    Seat,
    SeatLog,
    Worker,
    tied_ranks,
)
from ladder.ratings import summaries
from ladder.ratings.models import (
    Entry,
    Ladder,
    Membership,
    Pairing,
    Rating,
    Season,
    SecondOpinion,
    SecondOpinionRow,
)
from tests.public_log.factories import sequence_all
from torres.runner.protocol import Limits
from torres.tlog.leaves import LeafKind
from torres.upload.archive import UnpackedUpload, digest

LIMITS = Limits().as_dict()
NEWCOMER = [25.0, 8.0]
"""μ and σ of a bot that joins."""


@dataclass
class Chooser(QuietPlayer):
    """A player that takes random legal actions from a seeded generator."""

    rng: Random

    def decide(self, ask: Ask) -> Answer:
        return Answer([self.rng.choice(ask.legal)], None, 1.25, note="any")


def make_bot(name: str, owner: str = "ana") -> Submission:
    """Return the ready submission of a new bot."""
    user, _ = User.objects.get_or_create(username=owner)
    return upload(services.create_bot(user, name), name.encode())


def store(bot: Bot, content: bytes) -> Submission:
    """Store a program as a submission without the process that opens an upload."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bot.py").write_bytes(content)
        source = UnpackedUpload(("bot.py",), *digest(folder, ["bot.py"]))
        return submissions.add(bot, folder, source)


def upload(bot: Bot, content: bytes) -> Submission:
    """Store a program as a submission, and mark it as ready."""
    submission = store(bot, content)
    claimed = submissions.claim(submission.pk)
    assert claimed is not None
    submissions.accept(claimed, {"summary": "Ready.", "steps": []}, "the build log")
    submission.refresh_from_db()
    return submission


def make_match(*sitting: Submission, games: int = 1, finished: int = 1) -> Match:
    """Schedule a match and play the first `finished` of its games at random."""
    rules = resolve("yucata", len(sitting))
    match = Match.objects.create(
        kind="ladder",
        ruleset="yucata",
        switches=rules.switches(),
        seats=len(sitting),
        limits=LIMITS,
        seed="5eedba5e" * 4,
        planned=games,
    )
    for index in range(games):
        game = Game.objects.create(match=match, index=index)
        turned = sitting[index:] + sitting[:index]
        for number, submission in enumerate(turned):
            Seat.objects.create(
                game=game, number=number, submission=submission, bot=submission.bot
            )
        if index < finished:
            play(game)
    return match


@cache
def random_game(ruleset: str, seats: int, seed: str) -> referee.GameRecord:
    """Play a random game. All tests with the same seed share the result."""
    rules = resolve(ruleset, seats)
    return referee.play(
        Torres(rules, derive(rules, seed)),
        [Chooser(Random(f"{seed}/{seat}")) for seat in range(seats)],
        seed=seed,
        limits=LIMITS,
    )


def play(game: Game) -> None:
    match, seats = game.match, list(game.seats.select_related("submission__bot"))
    outcome = random_game(match.ruleset, match.seats, match.seed)
    players = [
        {"name": s.submission.bot.name, "bot": s.submission.bot.slug} for s in seats
    ]
    document = outcome.replay(seed=match.seed, players=players)
    now = timezone.now()
    worker, _ = Worker.objects.get_or_create(name="w:1:1", host="w")
    attempt = Attempt.objects.create(
        game=game, fence=1, worker=worker, ended_at=now, outcome="finished"
    )
    ended = document["result"]
    tied = tied_ranks(ended["ranks"])
    for seat in seats:
        seat.score = ended["scores"][seat.number]
        seat.rank = ended["ranks"][seat.number]
        seat.tied = tied[seat.number]
        seat.save()
        SeatLog.objects.create(
            attempt=attempt,
            number=seat.number,
            stderr=f"stderr of {seat.submission.bot.slug}",
            notes=[{"move": 3, "note": f"note of {seat.submission.bot.slug}"}],
        )
    Game.objects.filter(pk=game.pk).update(
        status=GameStatus.FINISHED,
        fence=1,
        started_at=now,
        finished_at=now,
        reason=ended["reason"],
        engine="1",
        replay=replays.pack(document),
    )


def make_ladder(slug: str = "main") -> Season:
    ladder = Ladder.objects.create(
        slug=slug,
        name="Main ladder",
        ruleset="yucata",
        tables={"2": 1.0},
        limits=LIMITS,
        default=slug == "main",
    )
    return Season.objects.create(ladder=ladder, number=1)


def rate(season: Season, submission: Submission, mu: float, sigma: float) -> Rating:
    season.head += 1
    season.save()
    Entry.objects.create(
        season=season,
        seq=season.head,
        kind="join",
        bot=submission.bot,
        changes=[{"bot": submission.bot_id, "before": None, "after": NEWCOMER}],
    )
    summaries.catch_up(season.pk)
    Membership.objects.get_or_create(ladder=season.ladder, bot=submission.bot)
    return Rating.objects.create(
        season=season,
        bot=submission.bot,
        submission=submission,
        mu=mu,
        sigma=sigma,
        games=12,
        forfeits=1,
        seq=season.head,
    )


def opine(season: Season, ranges: dict[str, tuple[int, int]]) -> SecondOpinion:
    """Store a second opinion with these possible ranks, by slug, the best bot first."""
    opinion = SecondOpinion.objects.create(
        season=season, seq=season.head, games=12, submissions=len(ranges)
    )
    for rank, (slug, (best, worst)) in enumerate(ranges.items(), start=1):
        SecondOpinionRow.objects.create(
            opinion=opinion,
            bot=Bot.objects.get(slug=slug),
            submission=1,
            games=12,
            rank=rank,
            value=10.0 - rank,
            error=1.0,
            best=best,
            worst=worst,
            top=0.5,
            weighted_rank=rank,
        )
    return opinion


def fold(season: Season, game: Game, changes: dict[Bot, tuple[float, float]]) -> Entry:
    season.head += 1
    season.save()
    played = game.seats.filter(rank__isnull=False).order_by("number")
    entry = Entry.objects.create(
        season=season,
        seq=season.head,
        kind="game",
        game=game,
        inputs={"seats": list(played.values("bot", "rank"))},
        changes=[
            {"bot": bot.pk, "before": NEWCOMER, "after": list(after)}
            for bot, after in changes.items()
        ],
    )
    summaries.catch_up(season.pk)
    return entry


def pair(season: Season, match: Match) -> Pairing:
    match.ladder = season.ladder.slug
    match.why = {"rule": "nearest", "reasons": ["least played", "close in mu"]}
    match.save()
    return Pairing.objects.create(season=season, match=match)


HOSTILE = "<script>alert(1)</script>"


@dataclass
class Show:
    """The rows that `everything` creates."""

    season: Season
    anas: Submission  # Grendel, the bot of Ana
    bens: Submission  # a bot with a hostile name
    match: Match  # finished and rated
    waiting: Match  # scheduled
    rejected: Submission  # the second upload to Grendel

    @property
    def game(self) -> Game:
        return self.match.games.get()


def everything() -> Show:
    """Create a small ladder with hostile texts wherever a bot can write."""
    season = make_ladder()
    anas, bens = make_bot("Grendel", "ana"), make_bot(HOSTILE, "ben")
    rate(season, anas, 30.0, 1.0)
    rate(season, bens, 29.0, 2.0)
    match = make_match(anas, bens)
    pair(season, match)
    fold(season, match.games.get(), {anas.bot: (30.5, 1.0), bens.bot: (28.0, 2.0)})
    waiting = make_match(bens, anas, finished=0)
    rejected = store(anas.bot, b"1/0")
    claimed = submissions.claim(rejected.pk)
    assert claimed is not None
    step = {
        "name": "play yucata, 2 seats",
        "ok": False,
        "detail": f"crash {HOSTILE}",
        "ms": 3,
    }
    submissions.reject(claimed, {"summary": HOSTILE, "steps": [step]}, f"log {HOSTILE}")
    SeatLog.objects.update(
        stderr=f"\x1b[31mstderr {HOSTILE}", notes=[{"move": 1, "note": HOSTILE}]
    )
    log_all()
    return Show(season, anas, bens, match, waiting, rejected)


def log_all() -> None:
    """Put all uploads and public results into the public log, as a service would."""
    Fact.objects.update(leaf_kind="")
    with transaction.atomic():
        # A proof reads one more tile for each 256 times as many leaves. Therefore even
        # a small service of tests has more than 256.
        outbox.record_all(
            outbox.fact(
                leaf=NewLeaf(LeafKind.ATTEMPT_ENDED, attempt, {"game": attempt})
            )
            for attempt in range(300)
        )
        for submission in Submission.objects.all():
            data = {"submission": submission.pk, "digest": submission.digest}
            kind = LeafKind.SUBMISSION_ACCEPTED
            outbox.record(leaf=NewLeaf(kind, submission.pk, data))
        for game in Game.objects.filter(status="finished").select_related("match"):
            data = {"game": game.pk, "match": game.match_id, "index": game.index}
            data |= {"replay": "", "scores": [], "ranks": [], "reason": "scored"}
            seal = facts.seal_of(game.match)
            outbox.record(leaf=NewLeaf(LeafKind.GAME_FINISHED, game.pk, data, seal))
    sequence_all()
