"""Unrated matches that an owner asks for, against chosen bots; a quota counts them."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.common.errors import LadderError, TooMany
from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms
from ladder.ratings.models import Challenge, Ladder

A_DAY = 20
"""So many challenges an owner may ask for within 24 hours."""
DAY = timedelta(hours=24)


class BadChallenge(LadderError):
    """These bots can't meet like this."""

    code, http_status = "bad-challenge", 422


@transaction.atomic
def challenge(by: User, ladder: Ladder, slugs: Sequence[str]) -> Match:
    """Schedule an unrated match of these bots, in the order of the seats.

    Raises BadChallenge and TooMany. One of them has to be the challenger's; a benched
    one of its own may play, so that its owner can see what is wrong.
    """
    User.objects.select_for_update().get(pk=by.pk)  # two requests at once count twice
    bots = _bots(by, ladder, slugs)
    if not left(by):
        raise TooMany(f"{A_DAY} challenges in 24 hours is the limit.")
    ready = {
        submission.bot_id: submission
        for submission in Submission.objects.filter(
            bot__in=bots, status=Submission.Status.READY
        ).order_by("number")
    }
    if missing := [bot.slug for bot in bots if bot.pk not in ready]:
        raise BadChallenge(f"No upload is ready of: {', '.join(missing)}.")
    match = games.schedule_match(
        Match.Kind.CHALLENGE,
        MatchTerms(ladder.ruleset, ladder.switches, ladder.limits),
        [ready[bot.pk] for bot in bots],
    )
    Challenge.objects.create(match=match, ladder=ladder, by=by)
    return match


def left(by: User) -> int:
    """Say how many challenges more the owner may ask for now."""
    asked = Challenge.objects.filter(by=by, created_at__gt=Now() - DAY)
    return max(0, A_DAY - asked.count())


def _bots(by: User, ladder: Ladder, slugs: Sequence[str]) -> list[Bot]:
    if len(set(slugs)) < len(slugs):
        raise BadChallenge("A bot can't meet itself.")
    if str(len(slugs)) not in ladder.tables:
        sizes = ", ".join(sorted(ladder.tables))
        raise BadChallenge(f"{ladder.slug} is played by {sizes}.")
    found = {bot.slug: bot for bot in Bot.objects.filter(slug__in=slugs)}
    if unknown := [slug for slug in slugs if slug not in found]:
        raise BadChallenge(f"There is no bot {unknown[0]!r}.")
    bots = [found[slug] for slug in slugs]
    if all(bot.owner_id != by.pk for bot in bots):
        raise BadChallenge("One of the bots has to be yours.")
    for bot in bots:
        own = bot.owner_id == by.pk and bot.status == Bot.Status.BENCHED
        if bot.status != Bot.Status.ACTIVE and not own:
            raise BadChallenge(f"{bot.slug} is {bot.status}.")
    return bots
