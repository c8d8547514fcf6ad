"""The contents of the list of ladders, and of the parts of the home page."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count
from django.utils.translation import gettext as _

from engine.editions import PRESETS
from engine.rulesets import SWITCHES
from ladder.games.installed_languages import installed_languages
from ladder.games.models import Game, GameStatus
from ladder.ratings import leaderboard, ledger_reader, second_opinion
from ladder.ratings.models import Ladder, Membership, Season
from torres.rating.description import BadLadder, read_tables
from torres.rating.ledger import EntryKind
from torres.rating.upsets import MIN_UPSET, lead_of_losers
from torres.runner.limits import BadLimits, read_limits

MAX_LADDERS = 100
MAX_STRENGTHS = 50
UPSET_ENTRIES = 200
"""Upsets are looked for among this many of the latest entries of a ledger."""
MAX_UPSETS = 3
UPSETS_TTL_S = 30  # reads UPSET_ENTRIES entries


@dataclass(frozen=True, slots=True)
class LadderEntry:
    """A ladder in words. `bots` counts those that play on it now.

    `tables` are the numbers of seats, each with its share of the matches in percent.
    """

    ladder: Ladder
    season: Season | None
    bots: int
    edition: str
    switches: list[str]
    tables: list[tuple[str, float]]
    limits: str


@dataclass(frozen=True, slots=True)
class Upset:
    """A rated game that was won by a bot with a much lower rating than another one."""

    game: Game
    difference: float


def ladders_details() -> dict[str, object]:
    """Return the contents of the list of ladders, and the languages of bots."""
    rows = list(leaderboard.ladders()[:MAX_LADDERS])
    playing = Membership.objects.filter(status=Membership.Status.ACTIVE)
    of_active_bots = playing.filter(bot__status="active", ladder__in=rows)
    counts = of_active_bots.order_by().values("ladder").annotate(n=Count("pk"))
    bots = dict(counts.values_list("ladder", "n"))
    languages = installed_languages()
    combined = second_opinion.latest(None)
    return {
        "combined": combined,
        "strengths": second_opinion.page(combined, 0, MAX_STRENGTHS).rows
        if combined
        else [],
        "ladders": [_entry(ladder, bots.get(ladder.pk, 0)) for ladder in rows],
        "languages": [language for language in languages if language.workers],
        "missing": [each.name for each in languages if not each.workers],
    }


def _entry(ladder: Ladder, bots: int) -> LadderEntry:
    preset = PRESETS.get(ladder.ruleset)
    return LadderEntry(
        ladder=ladder,
        season=leaderboard.current(ladder),
        bots=bots,
        edition=_(preset.explanation) if preset else "",
        switches=_switches(ladder.switches),
        tables=_tables(ladder.tables),
        limits=_limits(ladder.limits),
    )


def _switches(switches: object) -> list[str]:
    """Return the differences from the ruleset in words."""
    if not isinstance(switches, Mapping):
        return []
    return [
        f"{_(SWITCHES[name].meaning)}: {_value(value)}"
        for name, value in switches.items()
        if name in SWITCHES
    ]


def _value(value: object) -> str:
    if value is None:
        return _("no limit")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return str(value)


def _tables(tables: object) -> list[tuple[str, float]]:
    try:
        shares = {seats: share for seats, share in read_tables(tables).items() if share}
    except BadLadder:
        return []
    total = sum(shares.values())
    return [(seats, 100 * shares[seats] / total) for seats in sorted(shares)]


def _limits(document: object) -> str:
    """Return the limits of a bot in a sentence; empty if they are not valid."""
    try:
        limits = read_limits(document)
    except BadLimits:
        return ""
    return _(
        "%(move)s for each turn, and a bank of %(bank)s for the whole game; %(memory)s"
        " MiB of memory; %(pids)s processes and threads"
    ) % {
        "move": _seconds(limits.move_ms),
        "bank": _seconds(limits.bank_ms),
        "memory": limits.memory_mb,
        "pids": limits.pids,
    }


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def upset_leads(season: Season) -> dict[int, float]:
    """Return by how much the winners were rated lower, in some of the latest games.

    The keys are games. There are some more than are shown, because a game may be voided
    or hidden.
    """
    key = f"upsets:{season.pk}"
    leads: dict[int, float] | None = cache.get(key)
    if leads is None:
        leads = _greatest_leads(season)
        cache.set(key, leads, UPSETS_TTL_S)
    return leads


def latest_upsets(leads: Mapping[int, float], shown: Mapping[int, Game]) -> list[Upset]:
    """Return the greatest upsets first. `shown` are the games that anybody may see."""
    upsets = [
        Upset(shown[pk], lead)
        for pk, lead in leads.items()
        if pk in shown and shown[pk].status == GameStatus.FINISHED
    ]
    return sorted(upsets, key=lambda upset: -upset.difference)[:MAX_UPSETS]


def _greatest_leads(season: Season) -> dict[int, float]:
    after = max(0, season.head - UPSET_ENTRIES)
    found = {
        line.game: lead
        for line, changes in ledger_reader.lines_and_changes(season.pk, after=after)
        if line.game is not None
        and line.kind == EntryKind.GAME
        and (lead := lead_of_losers(line.inputs, changes)) >= MIN_UPSET
    }
    greatest = sorted(found, key=lambda game: -found[game])[: 2 * MAX_UPSETS]
    return {game: found[game] for game in greatest}
