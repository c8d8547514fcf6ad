"""The facts about ratings and seasons: their events and leaves of the log."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import chain, repeat

from ladder.bots.facts import status_leaf
from ladder.bots.models import Bot
from ladder.events.kinds import EventKind
from ladder.events.outbox import API, NewEvent, NewLeaf, fact, record, record_all
from ladder.ratings.models import Entry, Season
from torres.common.json_object import JsonObject
from torres.rating.ledger import EntryKind
from torres.rating.recorded import RecordedMatchmaker, Step
from torres.rating.trueskill import Skill
from torres.tlog.leaves import LeafKind

MAX_LISTED = 100
"""A correction may change thousands of bots. Then the event only counts them."""
MAX_STEPS_CHARS = 30_000
"""The steps of one leaf, which may have 65,535 bytes."""
_KIND_OF = {
    Season.Status.OPEN: EventKind.SEASON_REOPENED,
    Season.Status.FROZEN: EventKind.SEASON_FROZEN,
    Season.Status.FINALS: EventKind.SEASON_FINALS,
    Season.Status.ARCHIVED: EventKind.SEASON_ARCHIVED,
}


def record_entries(
    season: Season, entries: Sequence[Entry], known: Mapping[int, str]
) -> None:
    """Log what these entries change, and tell it of games and of games taken out.

    `known` has slugs of bots by their ids. The others are read, so that the cost is one
    or two statements for all entries.
    """
    voids = [entry for entry in entries if entry.kind == EntryKind.VOID]
    listed = [
        entry
        for entry in entries
        if entry.kind == EntryKind.GAME
        or (entry.kind == EntryKind.VOID and len(entry.changes) <= MAX_LISTED)
    ]
    bots = {change["bot"] for entry in listed for change in entry.changes}
    slugs = dict(known)
    if unknown := bots - slugs.keys():
        slugs |= Bot.objects.filter(pk__in=unknown).values_list("pk", "slug")
    about = {"ladder": season.ladder.slug, "season": season.number}
    facts = [
        fact(
            _rated(about, entry, slugs) if entry.kind == EntryKind.GAME else None,
            _leaf(about, entry),
        )
        for entry in entries
    ]
    if voids:
        facts.append(fact(_corrected(about, voids, slugs)))
    record_all(facts)


def _rated(about: JsonObject, entry: Entry, slugs: Mapping[int, str]) -> NewEvent:
    ratings = []
    for change in entry.changes:
        if change["after"] is not None:
            skill = Skill(*change["after"])
            ratings.append(
                {
                    "bot": slugs[change["bot"]],
                    "mu": skill.mu,
                    "sigma": skill.sigma,
                    "rating": skill.shown_rating,
                }
            )
    data = {
        **about,
        "game": entry.game_id,
        "bots": [rating["bot"] for rating in ratings],
        "ratings": ratings,
        "url": f"{API}games/{entry.game_id}/",
    }
    return NewEvent(EventKind.RATING_CHANGED, data)


def _leaf(about: JsonObject, entry: Entry) -> NewLeaf:
    """Return the ratings after an entry, and what it needs that no other leaf has.

    The leaf of the game has its ranks, and the leaf of the match has its seats.
    """
    data = {
        **about,
        "seq": entry.seq,
        "kind": entry.kind,
        "after": [
            [change["bot"], *(change["after"] or ())] for change in entry.changes
        ],
    }
    if entry.game_id is not None:
        data["game"] = entry.game_id
    if entry.kind != EntryKind.GAME:
        data["inputs"] = entry.inputs
    return NewLeaf(LeafKind.RATING_CHANGED, None, data)


def _corrected(
    about: JsonObject, voids: Sequence[Entry], slugs: Mapping[int, str]
) -> NewEvent:
    changed = [change["bot"] for entry in voids for change in entry.changes]
    data = {
        **about,
        "games": [entry.game_id for entry in voids][:MAX_LISTED],
        "changed": len(changed),
        "bots": [slugs[bot] for bot in changed if bot in slugs],
        "url": f"{API}ladders/{about['ladder']}/leaderboard/",
    }
    return NewEvent(EventKind.RATING_CORRECTED, data)


def record_pairings(
    season: Season, session: str, matchmaker: RecordedMatchmaker
) -> None:
    """Log the new steps of a matchmaker, in as many leaves as they need."""
    part = matchmaker.take()
    terms = matchmaker.terms
    about: JsonObject = {
        "ladder": season.ladder.slug,
        "season": season.number,
        "session": session,
        "part": part.number,
    }
    first: JsonObject = {"size": part.size}
    if part.number == 0:
        first["terms"] = {
            "tables": terms.shares,
            "parameters": asdict(terms.parameters),
            "duplicate": terms.duplicate,
        }
    leaves = []
    steps: list[Step] = []
    length = 0
    for step in part.steps:
        step_length = len(json.dumps(step))
        if length + step_length > MAX_STEPS_CHARS:
            leaves.append(steps)
            steps = []
            length = 0
        steps.append(step)
        length += step_length
    leaves.append(steps)
    record_all(
        fact(leaf=NewLeaf(LeafKind.PAIRINGS_MADE, None, about | more | {"steps": some}))
        for some, more in zip(leaves, chain([first], repeat({})), strict=False)
    )


def record_bench(bot: Bot, ladder: str) -> None:
    """Tell the owner of a bot that forfeits have benched it on a ladder."""
    data = {
        "status": Bot.Status.BENCHED,
        "ladder": ladder,
        "bots": [bot.slug],
        "url": f"{API}bots/{bot.slug}/",
    }
    event = NewEvent(EventKind.BOT_STATUS, data, False, [bot.owner_id])
    record(event, status_leaf(bot, Bot.Status.BENCHED, ladder))


def record_status(season: Season, status: str, *, is_new: bool = False) -> None:
    """Tell that a season is new, frozen, open again, in its finals, or archived."""
    kind = EventKind.SEASON_STARTED if is_new else _KIND_OF[Season.Status(status)]
    slug = season.ladder.slug
    data = {
        "ladder": slug,
        "season": season.number,
        "status": status,
        "url": f"{API}ladders/{slug}/leaderboard/",
    }
    record(NewEvent(kind, data))
