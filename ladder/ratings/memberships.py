"""Which bots play on which ladder: join, leave, bench, and operators' decisions.

A bot joins the default ladder with its first ready submission. It joins and leaves
other ladders if its owner says so, or if operators admit or remove it. A bot that is
not on a ladder keeps its rating there, and returns to it.

Only this module changes the status of a `Membership`. `Bot.status` holds
the status of a bot on all ladders.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from ladder.bots.facts import status_leaf
from ladder.bots.models import Bot, Submission
from ladder.events.outbox import record
from ladder.games import blame, services as games
from ladder.moderation.audit import Operator
from ladder.moderation.models import AuditEntry
from ladder.ratings.facts import record_bench
from ladder.ratings.models import Ladder, Membership, Rating, Season
from torres.common.errors import LadderError

Status = Membership.Status
Kind = AuditEntry.Kind

ON_THE_LADDER = (Status.ACTIVE, Status.BENCHED)
"""A bot with one of these statuses gets its new uploads rated."""


class MembershipRefused(LadderError, code="membership-refused", http_status=409):
    """The bot may not join or leave this ladder."""


@dataclass(frozen=True, slots=True)
class LadderPlace:
    """A ladder as seen from one bot.

    `status` is None if the bot was never on the ladder. `why` is for the owner only.
    """

    ladder: Ladder
    status: Status | None
    why: str
    can_join: bool
    can_leave: bool


def enroll_newcomers(default: Ladder, ready_within: timedelta | None = None) -> None:
    """Let bots join the default ladder that have a ready submission and no ladder.

    A bot that left it does not come back by itself, and a bot that plays on another
    ladder does not join when another ladder becomes the default one. With
    `ready_within`, only submissions that became ready in this time before now are
    looked at.
    """
    ready = Submission.objects.filter(
        ~Exists(Membership.objects.filter(bot=OuterRef("bot"))),
        status=Submission.Status.READY,
        bot__status__in=[Bot.Status.ACTIVE, Bot.Status.BENCHED],
    )
    if ready_within is not None:
        ready = ready.filter(ready_at__gt=Now() - ready_within)
    bots = sorted(set(ready.values_list("bot", flat=True)))
    Membership.objects.bulk_create(
        [Membership(ladder=default, bot_id=bot) for bot in bots],
        ignore_conflicts=True,
        batch_size=1000,
    )


@transaction.atomic
def join(bot: Bot, ladder: Ladder) -> Membership:
    """Let a bot play on a ladder, because its owner wants it. Idempotent.

    This also ends a bench for forfeits: the bot is judged again at its next forfeit. It
    does not end one for failed attempts while too many of the last day count (`blame`).
    On a ladder whose bots are admitted by operators, only a bot that was admitted
    before may come back. Raises MembershipRefused.
    """
    why = blame.failures_reason(bot)
    if why:
        raise MembershipRefused(why)
    _enroll_in_default(bot)
    known = Membership.objects.filter(ladder=ladder, bot=bot).exists()
    if not known and not _is_open(ladder):
        raise MembershipRefused(
            f"The operators decide which bots play on {ladder.slug}. Ask them to admit"
            f" {bot.slug}."
        )
    membership = _activate(bot, ladder, not_from=Status.REMOVED)
    if membership.status == Status.REMOVED:
        raise MembershipRefused(
            f"An operator has removed {bot.slug} from {ladder.slug}. Ask the operator."
        )
    return membership


@transaction.atomic
def leave(bot: Bot, ladder: Ladder) -> Membership:
    """Take a bot off a ladder, because its owner wants it. Idempotent.

    Its scheduled games on this ladder are cancelled. Running games go on and count, and
    the rating stays. Raises MembershipRefused if the bot is not on the ladder.
    """
    _enroll_in_default(bot)
    changed = Membership.objects.filter(
        ladder=ladder, bot=bot, status__in=ON_THE_LADDER
    ).update(status=Status.LEFT, why="", benched_submission=None, changed_at=Now())
    if changed:
        record(leaf=status_leaf(bot, Status.LEFT, ladder.slug))
        games.cancel_ladder_games(ladder.slug, bot.pk, f"{bot.slug} left the ladder")
    membership = Membership.objects.filter(ladder=ladder, bot=bot).first()
    if membership is None or membership.status != Status.LEFT:
        raise MembershipRefused(f"{bot.slug} is not on the ladder {ladder.slug}.")
    return membership


@transaction.atomic
def admit(operator: Operator, bot: Bot, ladder: Ladder) -> AuditEntry:
    """Let a bot play on a ladder, also if an operator removed it. Idempotent."""
    _enroll_in_default(bot)
    _activate(bot, ladder)
    return operator.record(Kind.JOIN, f"bot {bot.slug}", ladder=ladder.slug)


@transaction.atomic
def remove(operator: Operator, bot: Bot, ladder: Ladder) -> AuditEntry:
    """Take a bot off a ladder; its owner cannot undo it. Idempotent.

    It also keeps a bot away that was never on the ladder.
    """
    _enroll_in_default(bot)
    Membership.objects.update_or_create(
        ladder=ladder,
        bot=bot,
        defaults={
            "status": Status.REMOVED,
            "why": "",
            "benched_submission": None,
            "changed_at": Now(),
        },
    )
    record(leaf=status_leaf(bot, Status.REMOVED, ladder.slug))
    cancelled = games.cancel_ladder_games(
        ladder.slug, bot.pk, f"{bot.slug} was removed from the ladder"
    )
    return operator.record(
        Kind.LEAVE, f"bot {bot.slug}", ladder=ladder.slug, cancelled=cancelled
    )


@transaction.atomic
def bench(season: Season, rating: Rating, why: str) -> bool:
    """Bench a bot on one ladder in the name of the service.

    Return False if the bot is not active there. Its open games on this ladder are
    cancelled. `rating` is the bot's rating in `season`, and `why` is for its owner.
    """
    bot = rating.bot
    changed = Membership.objects.filter(
        ladder=season.ladder_id, bot=bot, status=Status.ACTIVE
    ).update(
        status=Status.BENCHED,
        why=why,
        benched_submission=rating.submission_id,
        changed_at=Now(),
    )
    if not changed:
        return False
    slug = season.ladder.slug
    record_bench(bot, slug)
    cancelled = games.cancel_ladder_games(
        slug, bot.pk, f"{bot.slug} is benched", end_running=True
    )
    Operator(None, why).record(
        Kind.BENCH,
        f"bot {bot.slug}",
        ladder=slug,
        season=season.pk,
        cancelled=cancelled,
    )
    return True


def end_benches(ladder: Ladder, playing: Mapping[int, Submission], why: str) -> None:
    """End the benches of bots on a ladder that continue with other code.

    `playing` has the submission that plays from now on, by bot. A bot stays benched if
    it is the submission for which the bot was benched, or if too many attempts failed
    in its seat, with whatever version (`blame`).
    """
    benched = Membership.objects.filter(
        ladder=ladder, bot__in=list(playing), status=Status.BENCHED
    )
    for membership in benched.select_related("bot"):
        if membership.benched_submission_id == playing[membership.bot_id].pk:
            continue
        if blame.failures_reason(membership.bot):
            continue
        _activate(membership.bot, ladder)
        Operator(None, why).record(
            Kind.REINSTATE, f"bot {membership.bot.slug}", ladder=ladder.slug
        )


def places(bot: Bot, *, only_own: bool = False) -> list[LadderPlace]:
    """Return the ladders that concern a bot: first the default one, then by id.

    With `only_own`, those are left out on which the bot never was.
    """
    own = {row.ladder_id: row for row in Membership.objects.filter(bot=bot)}
    ladders = Ladder.objects.order_by("-default", "pk")
    if only_own:
        ladders = ladders.filter(pk__in=list(own))
    return [_place(ladder, own.get(ladder.pk)) for ladder in ladders]


def place(bot: Bot, ladder: Ladder) -> LadderPlace:
    """Return one ladder as seen from a bot."""
    return _place(ladder, Membership.objects.filter(bot=bot, ladder=ladder).first())


def _place(ladder: Ladder, membership: Membership | None) -> LadderPlace:
    if membership is None:
        return LadderPlace(ladder, None, "", _is_open(ladder), can_leave=False)
    status = Status(membership.status)
    return LadderPlace(
        ladder,
        status,
        membership.why,
        can_join=status in (Status.LEFT, Status.BENCHED),
        can_leave=status in ON_THE_LADDER,
    )


def _is_open(ladder: Ladder) -> bool:
    return ladder.admission == Ladder.Admission.OPEN


def _enroll_in_default(bot: Bot) -> None:
    """Let a bot that is on no ladder join the default one, before anything else.

    Otherwise a choice that was made before the first upload was ready would count
    instead of the default ladder.
    """
    default = Ladder.objects.filter(default=True).first()
    if default and not Membership.objects.filter(bot=bot).exists():
        Membership.objects.get_or_create(ladder=default, bot=bot)


def _activate(bot: Bot, ladder: Ladder, not_from: Status | None = None) -> Membership:
    """Set the status to active, unless it is `not_from`; return the row."""
    membership, created = Membership.objects.get_or_create(ladder=ladder, bot=bot)
    if not created:
        Membership.objects.filter(
            ~Q(status=Status.ACTIVE), ~Q(status=not_from), pk=membership.pk
        ).update(
            status=Status.ACTIVE, why="", benched_submission=None, changed_at=Now()
        )
        membership.refresh_from_db()
    return membership
