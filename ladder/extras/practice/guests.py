"""Guests: people who play a game by hand without an account.

A guest plays against one house bot. The games belong to the key in the cookie of the
browser. They are deleted after TORRES_KEEP_GUEST_DAYS, unless the guest signs in.
"""

import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now

from engine.editions import DEFAULT
from ladder.bots.models import Bot, Submission
from ladder.common.rate_limits import hourly_wait_s
from ladder.common.retention import RetentionRule, rule_for_rows
from ladder.extras.practice import selectors, services
from ladder.extras.practice.endings import close
from ladder.extras.practice.models import OPEN_PRACTICE, PracticeGame, PracticeStatus
from ladder.extras.practice.selectors import Guest
from ladder.extras.practice.services import (
    BadPracticeGame,
    PracticeIsOff,
    PracticeTerms,
)
from torres.common.errors import TooMany

FAVOURITE = "house-greedy"  # a good first opponent
FULL = (
    "As many guests play as this service allows at once. Try again in some minutes, or"
    " sign up and play with an account."
)
SIGNED_IN_ELSEWHERE = "You signed in, and your account has an open game already."


class NoRoom(TooMany):
    """As many guests play as the service allows at once."""


def new_guest() -> Guest:
    return Guest(secrets.token_hex(16))


def are_welcome() -> bool:
    """True if this service lets people play without an account."""
    return selectors.is_switched_on() and bool(settings.TORRES_GUEST_GAMES)


def begin(by: Guest, address: str, start: str = "") -> PracticeGame:
    """Let a guest wait for a game against a house bot.

    `address` is the client's, as `rate_limits.address` returns it. With `start`, the
    text of a position, the game begins there, with the bot in all other seats. Raises
    PracticeIsOff, BadPracticeGame, TooMany, and NoRoom.
    """
    if not are_welcome():
        raise PracticeIsOff(
            "This service offers no games without an account. Sign up or sign in first."
        )
    _refuse_if_full()  # before a transaction begins, because many may come at once
    with transaction.atomic():
        return _begin(by, address, start)


def _begin(by: Guest, address: str, start: str) -> PracticeGame:
    house = selectors.opponents(by).house
    if not house:
        raise BadPracticeGame(
            "No house bot is ready. Try again when the house bots have started."
        )
    opponent = next((one for one in house if one.bot.slug == FAVOURITE), house[0])
    _lock(opponent)
    _refuse_if_full()
    bots = services.placed(start).rules.seats - 1 if start else 1
    terms = PracticeTerms(DEFAULT, [opponent.pk] * bots, start=start)
    game = services.create(by, terms)
    _count(address)
    return game


def _refuse_if_full() -> None:
    games = _of_guests().filter(status__in=OPEN_PRACTICE).count()
    if games >= settings.TORRES_GUEST_GAMES:
        raise NoRoom(FULL)


def _lock(opponent: Submission) -> None:
    """Make two guests who begin at once count one after the other."""
    Bot.objects.select_for_update(no_key=True).get(pk=opponent.bot_id)


def _count(address: str) -> None:
    """Count a game of an address and of its site. Raises TooMany."""
    limit = settings.TORRES_GUEST_GAMES_PER_HOUR
    if wait_s := hourly_wait_s("guest", address, limit):
        raise TooMany(
            f"Guests may begin {limit} games in an hour from one address. Try again in"
            f" {wait_s // 60 + 1} min, or sign up and play with an account."
        )


@transaction.atomic
def keep_games(by: Guest, user: User) -> int:
    """Let the games of a guest belong to a user; return how many there are.

    A user has one open game. If there is one already, the guest's open game ends.
    """
    User.objects.select_for_update().get(pk=user.pk)
    games = PracticeGame.objects.filter(guest=by.key)
    if selectors.open_game(user):
        for pk in games.filter(status__in=OPEN_PRACTICE).values_list("pk", flat=True):
            close(pk, PracticeStatus.ABANDONED, SIGNED_IN_ELSEWHERE)
    return games.update(owner=user, guest="")


def _of_guests() -> QuerySet[PracticeGame]:
    return PracticeGame.objects.exclude(guest="")


def retention_rule() -> RetentionRule:
    def due() -> QuerySet[Any]:
        keep = timedelta(days=settings.TORRES_KEEP_GUEST_DAYS)
        return _of_guests().filter(created_at__lt=Now() - keep)

    return rule_for_rows("games of guests", "TORRES_KEEP_GUEST_DAYS", _of_guests, due)
