"""Challenges: unrated matches that an owner requests against chosen bots."""

from collections.abc import Sequence
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from ladder.bots.models import Bot, Submission
from ladder.bots.selectors import belongs_to_somebody
from ladder.games import services as games
from ladder.games.models import Match
from ladder.games.services import MatchTerms, PlannedMatch
from ladder.ratings.models import Challenge, Ladder, Membership
from torres.common.errors import LadderError, TooMany
from torres.rating.description import check_ladder

MAX_CHALLENGES = 20
"""The challenges that an owner may request within `QUOTA_PERIOD`."""
QUOTA_PERIOD = timedelta(hours=24)


class BadChallenge(LadderError, code="bad-challenge", http_status=422):
    """These bots may not meet like this."""


@transaction.atomic
def challenge(by: User, ladder: Ladder, slugs: Sequence[str]) -> Match:
    """Schedule an unrated match of these bots, in the order of the seats.

    One of the bots has to belong to `by`. That bot may be benched on the ladder or not
    be on it, so that its owner can see what is wrong with it, or try it before it
    joins. All others have to play on the ladder. Raises BadChallenge, TooMany, and
    BadLadder if the ladder cannot be played as it is described.
    """
    check_ladder(ladder.description())
    # The lock makes two requests at once count one after the other.
    User.objects.select_for_update().get(pk=by.pk)
    bots = _bots(by, ladder, slugs)
    if not challenges_left(by):
        raise TooMany(
            f"The limit is {MAX_CHALLENGES} challenges in 24 hours. Try again later."
        )
    ready = {
        submission.bot_id: submission
        for submission in Submission.objects.filter(
            bot__in=bots, status=Submission.Status.READY
        ).order_by("number")
    }
    if missing := [bot.slug for bot in bots if bot.pk not in ready]:
        raise BadChallenge(f"These bots have no ready upload: {', '.join(missing)}.")
    terms = MatchTerms(ladder.ruleset, ladder.switches, ladder.limits)
    planned = PlannedMatch(terms, [ready[bot.pk] for bot in bots])
    (match,) = games.schedule_matches(Match.Kind.CHALLENGE, [planned])
    Challenge.objects.create(match=match, ladder=ladder, by=by)
    return match


def challenges_left(by: User) -> int:
    """Return how many more challenges the owner may request now."""
    recent = Challenge.objects.filter(by=by, created_at__gt=Now() - QUOTA_PERIOD)
    return max(0, MAX_CHALLENGES - recent.count())


def _bots(by: User, ladder: Ladder, slugs: Sequence[str]) -> list[Bot]:
    if len(set(slugs)) < len(slugs):
        raise BadChallenge("A bot cannot meet itself. Choose different bots.")
    if str(len(slugs)) not in ladder.table_sizes:
        sizes = ", ".join(ladder.table_sizes)
        raise BadChallenge(
            f"A match on {ladder.slug} is played by {sizes} bots, not by {len(slugs)}."
        )
    answered_for = Bot.objects.filter(belongs_to_somebody(), slug__in=slugs)
    by_slug = {bot.slug: bot for bot in answered_for}
    if unknown := [slug for slug in slugs if slug not in by_slug]:
        raise BadChallenge(f"There is no bot {unknown[0]!r}.")
    bots = [by_slug[slug] for slug in slugs]
    if all(bot.owner_id != by.pk for bot in bots):
        raise BadChallenge("One of the bots has to be yours.")
    members = set(
        Membership.objects.filter(
            ladder=ladder, bot__in=bots, status=Membership.Status.ACTIVE
        ).values_list("bot", flat=True)
    )
    for bot in bots:
        if bot.status != Bot.Status.ACTIVE:
            raise BadChallenge(f"{bot.slug} is {bot.status}, so it cannot play.")
        if bot.owner_id != by.pk and bot.pk not in members:
            raise BadChallenge(f"{bot.slug} does not play on {ladder.slug}.")
    return bots
