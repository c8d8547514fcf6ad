"""The life of a trial: a person begins it, and a host (`work`) plays and ends it."""

import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from ladder.bots.models import Bot
from ladder.common import leases
from ladder.common.leases import Held
from ladder.common.rate_limits import hourly_wait_s
from ladder.extras.editor import selectors
from ladder.extras.editor.models import OPEN_TRIALS, TrialGame, TrialStatus
from ladder.extras.practice.selectors import Guest
from ladder.extras.practice.services import PracticeIsOff
from ladder.games.attempts import LEASE
from torres.common.errors import TooMany
from torres.runner.protocol import Limits

MAX_SOURCE_BYTES = 48 << 10
"""The limit of a form is 64 KiB with all that belongs to it."""
MAX_WAITING = 20
MAX_WAIT = timedelta(minutes=5)
KEPT_TRIALS = 5
"""The ended trials that are kept of one person."""
SEATS = 2
LIMITS = Limits(start_ms=3_000, move_ms=200, bank_ms=2_000)
"""A shorter clock than on a ladder, because somebody is waiting."""
STILL_RUNS = "Your last run has not ended yet. Wait for its result, then run this code."
BUSY = "Too many people run code at this moment. Try again in a minute."
NOBODY_FREE = (
    "No host had time to play this game. Run it again, or later if that does not help."
)
INTERRUPTED = "The service was interrupted while it played this game. Run it again."

TrialClaim = Held[TrialGame]
"""The right to play one trial, until its lease has ended and it was given up."""


@dataclass(frozen=True, slots=True)
class TrialTerms:
    """The choices of a person. `language` is one of `selectors.LANGUAGES`."""

    language: str
    source: str
    opponent: Bot
    ruleset: str


@transaction.atomic
def begin(by: User | Guest, address: str, terms: TrialTerms) -> TrialGame:
    """Let the code of a person wait for a host. Raises PracticeIsOff and TooMany.

    `address` is the client's, as `rate_limits.address` returns it.
    """
    if refusal := selectors.refusal(by):
        raise PracticeIsOff(refusal)
    trials = selectors.trials_of(by)
    if trials.filter(status__in=OPEN_TRIALS).exists():
        raise TooMany(STILL_RUNS)
    is_guest = isinstance(by, Guest)
    # Guests leave half of the queue to users.
    most = MAX_WAITING // 2 if is_guest else MAX_WAITING
    if selectors.waiting_count() >= most:
        raise TooMany(BUSY)
    _count(address if is_guest else f"user:{by.pk}")
    kept = list(trials.values_list("pk", flat=True)[: KEPT_TRIALS - 1])
    trials.exclude(pk__in=kept).delete()
    try:
        with transaction.atomic():
            return TrialGame.objects.create(
                owner=None if isinstance(by, Guest) else by,
                guest=by.key if isinstance(by, Guest) else "",
                language=terms.language,
                source=terms.source,
                opponent=terms.opponent,
                ruleset=terms.ruleset,
                seat=secrets.randbelow(SEATS),
            )
    except IntegrityError:  # the person clicked twice
        raise TooMany(STILL_RUNS) from None


def _count(client: str) -> None:
    """Count a trial of a user or of an address. Raises TooMany."""
    limit = settings.TORRES_TRIALS_PER_HOUR
    if wait_s := hourly_wait_s("trial", client, limit):
        raise TooMany(
            f"Code may run {limit} times in an hour here. Try again in"
            f" {wait_s // 60 + 1} min, or at home with: torres check"
        )


def keep(by: Guest, user: User) -> int:
    """Let the trials of a guest belong to a user; return how many there are.

    A user has one open trial, so that an open one of the guest ends.
    """
    trials = TrialGame.objects.filter(guest=by.key)
    trials.filter(status__in=OPEN_TRIALS).update(
        **_ended(TrialStatus.FAILED, note="You signed in. Run the code again.")
    )
    return trials.update(owner=user, guest="")


def claim(host: str) -> TrialClaim | None:
    """Take the trial that is next: of users before guests, and each the oldest."""
    waiting = TrialGame.objects.filter(status=TrialStatus.WAITING)
    first = waiting.order_by("guest", "pk").values_list("pk", "fence").first()
    if first is None:
        return None
    running = TrialGame.objects.filter(status=TrialStatus.RUNNING)
    fence = leases.take(waiting, *first, LEASE, status=TrialStatus.RUNNING, host=host)
    return None if fence is None else Held(running, first[0], fence)


def end(held: TrialClaim, status: TrialStatus, **values: object) -> bool:
    """Store the result of a trial; return False if the claim is lost."""
    return held.update(**_ended(status, **values))


def end_lifeless() -> int:
    """End trials that no host will end; return how many. The dispatcher calls this."""
    waiting = TrialGame.objects.filter(
        status=TrialStatus.WAITING, created_at__lt=Now() - MAX_WAIT
    )
    lost = TrialGame.objects.filter(leases.is_over(), status=TrialStatus.RUNNING)
    return sum(
        rows.update(**_ended(TrialStatus.FAILED, note=note))
        for rows, note in ((waiting, NOBODY_FREE), (lost, INTERRUPTED))
    )


def _ended(status: TrialStatus, **values: object) -> dict[str, Any]:
    return {"status": status, "ended_at": Now(), "lease_until": None, **values}
