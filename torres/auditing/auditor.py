"""Audit a service from outside: its log, its games, its ratings, its leaderboards."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from torres.auditing import public_view
from torres.auditing.cosignatures import (
    Quorum,
    check_cosignatures,
    shown_notes,
)
from torres.auditing.findings import AuditFinding, Check
from torres.auditing.games import check_replay
from torres.auditing.hand import OperatorsHand, operators_hand
from torres.auditing.logged import Story
from torres.auditing.mirror import (
    Fetch,
    LogCopy,
    Progress,
    compare_with_witness,
    copy_log,
    signed_size,
    trusted_key,
)
from torres.auditing.pairings import PairingCounts, PairingsAudit
from torres.auditing.ratings import RatingsAudit
from torres.auditing.statistics import ReadStatistics
from torres.auditing.story import StoryReader
from torres.auditing.tournaments import (
    ReadStandings,
    ReadTournament,
    check_decisions,
    compare_standings,
)
from torres.common.answers import BotAnswer, GameAnswer
from torres.common.json_object import JsonObject
from torres.common.lazy_import import lazy_import
from torres.common.pause import pause
from torres.tlog.checkpoints import TreeHead
from torres.tlog.notes import BadNote, SignedNote, VerifierKey

if TYPE_CHECKING:
    from torres.auditing import strengths
else:
    # Its import takes 200 ms. Without numpy the command ends now, and not at the end.
    lazy_import("numpy")
    strengths = lazy_import("torres.auditing.strengths")

PAUSE_S = 2.0
COPIES = 10
"""The log is copied this often, at most, until it has all that the service showed."""


class Service(Protocol):
    """The part of a service that the audit reads besides its log."""

    def games(self) -> Iterable[GameAnswer]:
        """Yield all games that the service shows as finished or voided."""

    def replays(self) -> Iterable[tuple[int, JsonObject]]:
        """Yield the public replays with the numbers of their games."""

    def bots(self) -> Iterable[BotAnswer]:
        """Yield all bots."""

    def tournaments(self) -> Iterable[ReadTournament]:
        """Yield all tournaments that were announced."""

    def datasets(self) -> Mapping[str, str]:
        """Return the digest of the manifest of each dataset, by its day."""

    def leaderboards(self) -> Iterable[public_view.ReadLeaderboard]:
        """Yield the leaderboards of all seasons of all ladders."""

    def statistics(
        self, boards: Iterable[public_view.ReadLeaderboard]
    ) -> Iterable[ReadStatistics]:
        """Yield the results of all bots in the present seasons of these boards."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The knowledge of the person who audits.

    `key` is the key of the log, and `witness_key` that of a witness. `witnesses` has
    the texts of checkpoints that were seen elsewhere, and `cosigned` the sizes of trees
    that witnesses say they have cosigned. `quorum` is how many witnesses have to have
    cosigned the log; by default all that it names.
    """

    key: str | None = None
    witness_key: str | None = None
    witnesses: Sequence[str] = ()
    cosigned: Collection[int] = ()
    quorum: int | None = None


@dataclass(slots=True)
class AuditReport:
    """The result of an audit. It is good if there are no findings.

    `dealt` and `witnessed` count matches, as the story does. `pairings` is None if the
    matches of ladders were not made again.
    """

    head: TreeHead
    key: VerifierKey
    games: int = 0
    replays: int = 0
    entries: int = 0
    bots: int = 0
    sealed: int = 0
    dealt: int = 0
    witnessed: int = 0
    quorum: Quorum = field(default_factory=Quorum)
    hand: OperatorsHand = field(default_factory=OperatorsHand)
    pairings: PairingCounts | None = None
    findings: list[AuditFinding] = field(default_factory=list)

    def document(self, max_findings: int | None = None) -> dict[str, object]:
        """Return the report for JSON, with all findings or the first ones."""
        return {
            "origin": self.head.origin,
            "size": self.head.size,
            "root": self.head.root.hex(),
            "key": str(self.key),
            "games": self.games,
            "replays": self.replays,
            "entries": self.entries,
            "bots": self.bots,
            "sealed": self.sealed,
            "dealt": self.dealt,
            "witnessed": self.witnessed,
            "witnesses": {
                "named": self.quorum.named,
                "cosigned": self.quorum.cosigned,
                "demanded": self.quorum.demanded,
            },
            "operators_hand": {
                "counts": self.hand.counts,
                "tests": [test.document() for test in self.hand.tests],
            },
            "pairings": asdict(self.pairings) if self.pairings else None,
            "findings": [
                {"check": f.check, "leaf": f.leaf, "text": f.text}
                for f in self.findings[:max_findings]
            ],
        }


def audit(
    folder: Path,
    fetch: Fetch,
    service: Service,
    progress: Progress,
    trust: Trust,
    *,
    matchmaking: bool = False,
) -> AuditReport:
    """Audit a service and return the report; the copy of the log stays in `folder`.

    1. Note the size of the log, and read what the service shows. Then copy the log
       until it has all that was shown. Compare it with the last audit and with what
       witnesses and others have seen.
    2. Read the leaves: secrets, plans, games, voids and times have to fit together.
    3. Compute all ratings and the standings of tournaments again. Compare games, names,
       leaderboards and standings with the log, in both directions. Test whether acts of
       operators depend on results.
    4. Play all replays again. With `matchmaking`, make the matches of ladders again.

    Raises AuditFailed, OSError, and BadKey.
    """
    folder.mkdir(parents=True, exist_ok=True)
    key = trusted_key(folder, fetch, trust.key)
    findings: dict[AuditFinding, None] = {}
    first = signed_size(fetch, key)
    notes = _shown_notes(fetch, findings)
    view = _read_view(service, first)
    # The service logs what it shows within seconds.
    for copies in range(1, COPIES + 1):
        copy, found = copy_log(folder, fetch, key, progress)
        findings |= dict.fromkeys(found)
        story = _story(copy, trust, findings)
        if view.is_in(story) or copies == COPIES:
            break
        pause(PAUSE_S)
        # Standings show that an entrant left before a result is decided for it.
        standings = ReadStandings(copy.head.size, list(service.tournaments()))
        view = replace(view, standings=standings)
    report = AuditReport(copy.head, key, len(story.games), sealed=story.sealed)
    report.quorum, cosigned = check_cosignatures(notes, copy, story, trust.quorum)
    findings |= dict.fromkeys(cosigned)
    ratings = RatingsAudit(story, view.heads(), view.forfeits(), remembers=matchmaking)
    report.findings = [
        *(*findings, *story.findings, *ratings.check()),
        *public_view.compare_games(view, ratings),
        *public_view.compare_leaderboards(view, ratings),
        *public_view.stale_answers(view, ratings),
        *public_view.compare_counts(view, ratings),
        *strengths.compare_strengths(view, ratings),
        *public_view.compare_names(view, ratings),
        *public_view.compare_datasets(view, story),
        *check_decisions(story, view.forfeits()),
        *compare_standings(view.standings, story),
        *_check_replays(service, story, view, report, progress),
    ]
    if matchmaking:
        pairings = PairingsAudit(story, ratings, copy)
        report.findings += pairings.check()
        report.pairings = pairings.counts
    report.hand = operators_hand(
        ratings,
        {number: bot["slug"] for number, bot in view.bots.items()},
        {number: bot["owner"] for number, bot in view.bots.items() if bot["owner"]},
    )
    report.findings += report.hand.findings()
    report.entries = len(story.ratings)
    report.dealt, report.witnessed = story.dealt, story.witnessed
    report.bots = sum(len(season.state.bots) for season in ratings.seasons.values())
    return report


def _read_view(service: Service, first: int) -> public_view.PublicView:
    """Read what a service shows, except replays. `first` is the size of its log."""
    boards = list(service.leaderboards())
    statistics = list(service.statistics(boards))
    return public_view.PublicView(
        first,
        boards,
        {game["id"]: game for game in service.games()},
        {bot["id"]: bot for bot in service.bots()},
        ReadStandings(first, list(service.tournaments())),
        service.datasets(),
        statistics,
    )


def _shown_notes(fetch: Fetch, findings: dict[AuditFinding, None]) -> list[SignedNote]:
    """Return the cosigned checkpoints that a service shows; none if it shows others."""
    try:
        return shown_notes(fetch)
    except BadNote as error:
        text = f"the cosignatures that the service shows cannot be read: {error}"
        findings[AuditFinding(Check.WITNESSES, text)] = None
        return []


def _story(copy: LogCopy, trust: Trust, findings: dict[AuditFinding, None]) -> Story:
    """Compare the copy with what others have seen, and read its leaves."""
    seen_by = VerifierKey.parse(trust.witness_key) if trust.witness_key else None
    for text in trust.witnesses:
        findings |= dict.fromkeys(compare_with_witness(copy, text, seen_by))
    copy.seen.update(trust.cosigned)
    return StoryReader(copy, datetime.now(UTC)).read()


def _check_replays(
    service: Service,
    story: Story,
    view: public_view.PublicView,
    report: AuditReport,
    progress: Progress,
) -> Iterator[AuditFinding]:
    """Play the replays again; yield what is wrong, and which are not shown."""
    seen = set()
    for number, replay in service.replays():
        seen.add(number)
        if number not in story.games:
            continue
        report.replays += 1
        findings = list(check_replay(story, number, replay))
        yield from findings
        if not findings and number in view.games:
            problem = public_view.compare_forfeits(view.games[number], replay)
            if problem:
                leaf = story.games[number].leaf
                yield AuditFinding(Check.REPLAYS, f"game {number}: {problem}", leaf)
        progress("replays", report.replays, report.games)
    yield from public_view.withheld_replays(story, view, seen)
