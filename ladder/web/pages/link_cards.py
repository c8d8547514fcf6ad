"""The pictures and sentences that chats and feeds show for a link to a page.

A picture is drawn when it is first asked for, and kept in the cache. Its key follows
from its contents, so that it is drawn anew only after they have changed.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from io import BytesIO
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.template.defaultfilters import pluralize

from ladder.bots.models import Bot
from ladder.extras.puzzles.collection import Puzzle
from ladder.games import visibility as games
from ladder.games.models import Game, GameStatus, Match, Seat
from ladder.ratings import leaderboard
from ladder.ratings.models import Ladder, Season
from ladder.ratings.ranked_rows import BoardFilter, ranked_page
from ladder.tournaments import visibility as tournaments
from ladder.tournaments.models import Tournament
from ladder.web.pages import bot_pages, tournament_pages, watching
from ladder.web.templatetags.formatting import edition, short
from torres.common.lazy_import import lazy_import
from torres.drawing import frames

if TYPE_CHECKING:
    from torres.drawing import cards, raster
else:  # Pillow takes time and memory
    cards = lazy_import("torres.drawing.cards")
    raster = lazy_import("torres.drawing.raster")

GAME_TTL_S = 24 * 3600
FILM_TTL_S = 600
"""A film is four times as large as a card, and the cache may be in memory."""
MAX_FRAMES = 24
FILM_WIDTH = 480  # pixels
TURN_MS = 700
END_PAUSE_MS = 3_000
TABLE_TTL_S = 3600
"""The contents of the other cards change with each game."""
ROWS = 5
LATEST_GAMES = 20
"""The results on the card of a bot are among this many of its latest games."""


def game_card(game: Game) -> tuple[str, bytes]:
    """Return an ETag and the picture of a finished game. Raises NotOver and NoReplay.

    It shows the final board, the players and their scores.
    """
    tag = f'"card-{game.pk}-{game.fence}"'

    def draw() -> bytes:
        title = f"Torres, game {game.pk}"
        frame = watching.final_frame(game, None)
        return cards.game_card(title, edition(game.match.ruleset), _names(game), frame)

    return tag, _drawn_once(tag, draw, GAME_TTL_S)


def puzzle_card(number: int, puzzle: Puzzle) -> tuple[str, bytes]:
    """Return an ETag and the picture of a puzzle: its board, the seats, its level."""
    digest = sha256(f"{number} {puzzle.line()}".encode()).hexdigest()
    tag = f'"card-{digest[:32]}"'

    def draw() -> bytes:
        game = puzzle.game()
        names = [f"Rival {rival}" for rival in range(1, game.rules.seats)]
        names.insert(game.position.seat, "You")
        note = f"{puzzle.level.capitalize()}: your last turn"
        frame = frames.frame_of(game)
        return cards.game_card(f"Torres puzzle {number}", note, names, frame)

    return tag, _drawn_once(tag, draw, GAME_TTL_S)


def last_phase(game: Game) -> tuple[str, bytes]:
    """Return an ETag and a GIF of the last phase of a finished game, turn by turn.

    Raises NotOver and NoReplay.
    """
    tag = f'"last-phase-{game.pk}-{game.fence}"'

    def draw() -> bytes:
        shown = frames.last_phase(watching.all_frames(game), MAX_FRAMES)
        film = raster.Film(_names(game), shown, FILM_WIDTH)
        file = BytesIO()
        raster.save_animation(film, file, ms=TURN_MS, pause_ms=END_PAUSE_MS)
        return file.getvalue()

    return tag, _drawn_once(tag, draw, FILM_TTL_S)


def _names(game: Game) -> list[str]:
    bots = [seat.submission.bot for seat in game.seats.all()]
    return [_drawable(bot.name, bot.slug) for bot in bots]


def bot_card(bot: Bot) -> tuple[str, bytes]:
    """Return an ETag and the picture of a bot: its rank, rating and last results."""
    rating = next(iter(bot_pages.shown_ratings(bot, None)), None)
    text = "This bot has no rating in a present season."
    if rating is not None:
        rank = leaderboard.rank(rating.season, rating)
        ladder = _drawable(rating.season.ladder.name, rating.season.ladder.slug)
        text = bot_text(ladder, rank, rating.rating, rating.games)
    keys = games.keys_of(bot).exclude(match__kind=Match.Kind.COMPARISON)
    results = [
        _result(game, bot)
        for game in games.with_seats(keys[:LATEST_GAMES])
        if game.status == GameStatus.FINISHED
    ]
    return _table(_drawable(bot.name, bot.slug), text, results[:ROWS])


def _result(game: Game, bot: Bot) -> tuple[str, str, str]:
    """Return the rank of a bot, the names of its opponents, and all scores."""
    seats: list[Seat] = list(game.seats.all())
    seats.sort(key=lambda seat: seat.submission.bot_id != bot.pk)
    rivals = [seat.submission.bot for seat in seats[1:]]
    names = ", ".join(_drawable(rival.name, rival.slug) for rival in rivals)
    scores = " : ".join(str(seat.score) for seat in seats)
    return _ordinal(seats[0].rank), f"against {names}", scores


def ladder_card(ladder: Ladder, season: Season | None) -> tuple[str, bytes]:
    """Return an ETag and the picture of a ladder: its best bots and their ratings."""
    title = _drawable(ladder.name, ladder.slug)
    if season is None:
        return _table(title, ladder_text(None, 0), [])
    page = ranked_page(season, BoardFilter(), 0, ROWS)
    rows = [
        (f"{row.rank}.", _drawable(row.name, row.bot), f"{row.rating:.2f}")
        for row in page.rows
    ]
    return _table(title, ladder_text(season, page.total), rows)


def tournament_card(tournament: Tournament) -> tuple[str, bytes]:
    """Return an ETag and the picture of a tournament: its state and its standings.

    Like the page it shows only results that are not held back.
    """
    lines = tournaments.overview(tournament).lines
    shown = [
        (f"{line.rank}.", _drawable(line.name, line.bot), _points(line.points))
        for line in lines[:ROWS]
    ]
    first = [line for line in lines[:ROWS] if line.rank == 1]
    winners = first if tournaments.is_complete(tournament) else []
    names = [_drawable(line.name, line.bot) for line in winners]
    text = tournament_text(tournament, names)
    return _table(_drawable(tournament.name, tournament.slug), text, shown)


def _points(points: float) -> str:
    return f"{short(points, 1)} point{pluralize(points)}"


def bot_text(ladder: str, rank: int, rating: float, games: int) -> str:
    """Describe a bot by its place on the ladder of this name."""
    return f"Rank {rank} on {ladder}, rating {rating:.2f} after {games} games."


def ladder_text(season: Season | None, bots: int) -> str:
    """Describe a ladder with this number of bots in its present season."""
    if season is None:
        return "The first season has not started."
    state = Season.Status(season.status).value
    return f"Season {season.number}, {state}, with {bots} bot{pluralize(bots)}."


def tournament_text(tournament: Tournament, winners: Sequence[str]) -> str:
    """Describe a tournament of `visibility.tournaments` by its winners or its state."""
    if winners:
        return f"Won by {' and '.join(winners)}."
    form = tournament_pages.format_name(tournament)
    state = tournament.get_status_display().lower()
    entered: int = getattr(tournament, "entered")  # noqa: B009 - an annotation
    return f"{form} tournament, {state}, with {entered} entrant{pluralize(entered)}."


def _table(
    title: str, text: str, rows: Sequence[tuple[str, str, str]]
) -> tuple[str, bytes]:
    digest = sha256(repr((title, text, rows)).encode()).hexdigest()
    tag = f'"card-{digest[:32]}"'

    def draw() -> bytes:
        return cards.table_card(title, text, [cards.CardRow(*row) for row in rows])

    return tag, _drawn_once(tag, draw, TABLE_TTL_S)


def _drawn_once(tag: str, draw: Callable[[], bytes], ttl_s: int) -> bytes:
    known: bytes | None = cache.get(f"card:{tag}")
    if known is None:
        known = draw()
        cache.set(f"card:{tag}", known, ttl_s)
    return known


def _ordinal(rank: int | None) -> str:
    """Return a rank of at most four seats as a word."""
    return {1: "1st", 2: "2nd", 3: "3rd"}.get(rank or 0, f"{rank}th")


def _drawable(name: str, slug: str) -> str:
    """Return a name, or its slug if the font of the pictures lacks its letters."""
    return name if name.isascii() and name.isprintable() else slug
