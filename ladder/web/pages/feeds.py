"""Atom feeds of a bot, a ladder or a tournament, for readers of news.

The news of all feeds are read once a minute: the newest of the events that are rare
enough to be news. A bot has its latest games in addition. Entries are those that the
public sees, so results that a tournament holds back are in none.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import structlog
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views import View

from ladder.bots.models import Bot
from ladder.events import stream, texts
from ladder.games import visibility as games
from ladder.games.models import Game, GameStatus, Match
from ladder.ratings import leaderboard as ratings
from ladder.tournaments import visibility as tournaments
from torres.common.quoting import printable

log = structlog.get_logger()

ENTRIES = 30
NEWS = 300
EXAMINED = 20_000
"""The newest facts among which news are searched; most are games and ratings."""
CACHE_KEY = "feeds.news"
CACHE_S = 60


class FeedEntry(NamedTuple):
    """An entry: a sentence, its moment, and the path of the page about it."""

    key: str
    text: str
    at: datetime
    path: str


class BotFeed(View):
    """The latest games of a bot, its new versions, and changes of its status."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        bot = get_object_or_404(Bot, slug=slug)
        if bot.is_gone:
            raise Http404
        entries = [*_news("bots", slug), *_games(bot)]
        return _feed(request, bot.name, reverse("bot-page", args=[slug]), entries)


class LadderFeed(View):
    """The seasons of a ladder."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        ladder = get_object_or_404(ratings.ladders(), slug=slug)
        path = reverse("ladder-page", args=[slug])
        return _feed(request, ladder.name, path, _news("ladder", slug))


class TournamentFeed(View):
    """The rounds of a tournament, and its end."""

    def get(self, request: HttpRequest, slug: str) -> HttpResponse:
        tournament = get_object_or_404(tournaments.tournaments(), slug=slug)
        path = reverse("tournament-page", args=[slug])
        return _feed(request, tournament.name, path, _news("tournament", slug))


def _news(key: str, value: str) -> list[FeedEntry]:
    """Return the news that have a value at a key of their data, the newest first."""
    entries = []
    # The feed sorts them by time. Entries of the same millisecond keep this order.
    for row in reversed(cache.get_or_set(CACHE_KEY, _newest, CACHE_S) or ()):
        try:
            if row.has_one_of([value], key):
                text = texts.sentence(row.kind, row.data)
                path = texts.page_of(row.data)
                number = f"event-{row.number}"
                entries.append(FeedEntry(number, text, row.created_at, path))
        except Exception:  # one damaged row must not stop the others
            log.exception("an event is left out of a feed", number=row.number)
    return entries


def _newest() -> list[stream.EventRow]:
    return stream.news(stream.newest() - EXAMINED, NEWS)


def _games(bot: Bot) -> list[FeedEntry]:
    keys = games.keys_of(bot).exclude(match__kind=Match.Kind.COMPARISON)
    finished = [
        (game, game.finished_at)
        for game in games.with_seats(keys[:ENTRIES])
        if game.status == GameStatus.FINISHED and game.finished_at is not None
    ]
    return [
        FeedEntry(
            f"game-{game.pk}", _result(game), at, reverse("game-page", args=[game.pk])
        )
        for game, at in finished
    ]


def _result(game: Game) -> str:
    seats = [
        (seat.submission.bot.slug, seat.rank or 0, seat.score or 0)
        for seat in game.seats.all()
    ]
    return texts.result(seats)


def _feed(
    request: HttpRequest, title: str, path: str, entries: Sequence[FeedEntry]
) -> HttpResponse:
    own = request.build_absolute_uri()
    page = request.build_absolute_uri(path)
    feed = Atom1Feed(title=printable(title), link=page, description="", feed_url=own)
    for entry in sorted(entries, key=lambda entry: entry.at, reverse=True)[:ENTRIES]:
        feed.add_item(
            title=printable(entry.text),
            link=request.build_absolute_uri(entry.path),
            description="",
            unique_id=f"{page}#{entry.key}",
            pubdate=entry.at,
            updateddate=entry.at,
        )
    body = feed.writeString("utf-8")
    answer = HttpResponse(body, content_type="application/atom+xml; charset=utf-8")
    answer["Cache-Control"] = f"max-age={CACHE_S}"
    return answer
