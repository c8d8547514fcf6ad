"""Repeat the decisions of the matchmakers from the steps that the log has of them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import Story
from torres.auditing.mirror import LogCopy
from torres.auditing.ratings import LADDER_MATCH, AuditedSeason, RatingsAudit, SeasonKey
from torres.auditing.story import LATE
from torres.common.typed import checked
from torres.rating.pairing import Matchmaker, PairingTerms
from torres.rating.pool import BotProfile
from torres.rating.recorded import (
    UNWRITTEN,
    PooledBot,
    Step,
    StepKind,
    rating_digest,
    seed,
)
from torres.rating.trueskill import Parameters
from torres.tlog.leaves import Leaf, parse_leaf


class DoesNotFollow(Exception):
    """A step or a match does not follow from the log; the text says why."""


@dataclass(slots=True)
class PairingCounts:
    """Counts the matches that were made again, and the sessions that made them.

    `unwritten` counts the seatings that no match was written for, because one of their
    bots could no longer play. `unrecorded` counts older matches without steps.
    """

    matches: int = 0
    sessions: int = 0
    unwritten: int = 0
    unrecorded: int = 0


@dataclass(slots=True)
class _Session:
    """A matchmaker that is repeated. `rows` are bots that wait for the next fill."""

    season: SeasonKey
    matchmaker: Matchmaker
    rng: Random
    part: int = -1
    rows: list[BotProfile] = field(default_factory=list)


class PairingsAudit:
    """Repeats all sessions in the order of the log."""

    def __init__(self, story: Story, ratings: RatingsAudit, copy: LogCopy) -> None:
        self.counts = PairingCounts()
        self._story = story
        self._ratings = ratings
        self._copy = copy
        self._sessions: dict[tuple[SeasonKey, str], _Session] = {}
        self._made: set[int] = set()
        self._since: dict[str, int] = {}
        self._apply: dict[str, Callable[..., None]] = {
            StepKind.ROWS: self._rows,
            StepKind.FILL: self._fill,
            StepKind.UPDATE: self._update,
            StepKind.REMOVE: self._remove,
            StepKind.MET: self._met,
            StepKind.CHARGE: self._charge,
            StepKind.OPEN: self._open,
            StepKind.MAKE: self._make,
        }

    def check(self) -> Iterator[AuditFinding]:
        """Yield the first difference of each session, and matches that no step made."""
        broken = set()
        for number in self._story.pairings:
            leaf = parse_leaf(self._copy.leaves[number])
            season = leaf.data["ladder"], leaf.data["season"]
            self._since.setdefault(season[0], number)
            key = season, leaf.data["session"]
            try:
                self._made |= _made_by(leaf.data["steps"])
                if key not in broken:
                    self._repeat(self._session(key, leaf), number, leaf)
            except DoesNotFollow as error:
                why = str(error)
            except (ArithmeticError, LookupError, TypeError, ValueError) as error:
                why = f"a step cannot be repeated: {error!r}"
            else:
                continue
            broken.add(key)
            text = f"{season[0]} season {season[1]}: {why}"
            yield AuditFinding(Check.MATCHMAKING, text, number)
        self.counts.sessions = len(self._sessions)
        yield from self._unmade()

    def _session(self, key: tuple[SeasonKey, str], leaf: Leaf) -> _Session:
        if key in self._sessions:
            return self._sessions[key]
        if "terms" not in leaf.data:
            raise DoesNotFollow(f"the first leaf of session {key[1]} has no terms")
        terms = leaf.data["terms"]
        shares = {seats: float(share) for seats, share in terms["tables"].items()}
        constants = {name: float(value) for name, value in terms["parameters"].items()}
        parameters = Parameters(**constants)
        season = self._ratings.seasons.get(key[0])
        if season is None or parameters not in season.in_force:
            raise DoesNotFollow("the season never had the parameters of the matchmaker")
        rng = Random()  # noqa: S311 -- the one of the service
        matchmaker = Matchmaker(
            PairingTerms(shares, parameters, terms["duplicate"]), rng
        )
        self._sessions[key] = _Session(key[0], matchmaker, rng)
        return self._sessions[key]

    def _repeat(self, session: _Session, number: int, leaf: Leaf) -> None:
        part = leaf.data["part"]
        if "size" in leaf.data:
            size = leaf.data["size"]
            if part != session.part + 1 or size > number:
                raise DoesNotFollow(f"part {part} of the steps cannot come here")
            session.part = part
            session.rng.seed(seed(self._copy.roots[size], *session.season, part))
        elif part != session.part:
            raise DoesNotFollow(f"part {part} of the steps has no beginning")
        for kind, *rest in leaf.data["steps"]:
            if kind not in self._apply:
                raise DoesNotFollow(f"the step {kind!r} is not known")
            self._apply[kind](session, *rest)

    def _profile(self, session: _Session, row: Sequence[object]) -> BotProfile:
        """Return the profile of a bot, whose numbers come from the ratings."""
        bot, submission, seq, owner, house, digest = checked(PooledBot, tuple(row))
        season = self._season(session)
        for state in season.seen.get((bot, seq), ()):
            mu, sigma = state.skill
            if state.submission != submission:
                continue
            if rating_digest(state, mu, sigma) == digest:
                return BotProfile(
                    bot=bot,
                    name=str(bot),
                    submission=submission,
                    owner=owner,
                    mu=mu,
                    sigma=sigma,
                    games=state.games,
                    fresh=state.fresh,
                    latest=state.latest,
                    house=bool(house),
                )
        raise DoesNotFollow(
            f"bot {bot} entered the pool with a rating that the ledger does not have"
        )

    def _season(self, session: _Session) -> AuditedSeason:
        return self._ratings.seasons[session.season]

    def _rows(self, session: _Session, rows: list[list[object]]) -> None:
        session.rows += [self._profile(session, row) for row in rows]

    def _fill(self, session: _Session) -> None:
        session.matchmaker.pool.fill(session.rows)
        session.rows = []

    def _update(self, session: _Session, *row: object) -> None:
        session.matchmaker.update(self._profile(session, row))

    def _remove(self, session: _Session, bot: int) -> None:
        session.matchmaker.pool.remove(bot)

    def _met(self, session: _Session, matches: list[int]) -> None:
        for match in matches:
            session.matchmaker.remember(self._seats(match))

    def _charge(self, session: _Session, bot: int, submission: int, turns: int) -> None:
        session.matchmaker.charge_unrated(bot, submission, checked(int, turns))

    def _open(self, session: _Session, counts: list[tuple[int, int]]) -> None:
        for bot, games in counts:
            session.matchmaker.pool[bot].open_games = checked(int, games)

    def _make(self, session: _Session, matches: list[int]) -> None:
        for match in matches:
            seating = session.matchmaker.next_seating()
            if match == UNWRITTEN:
                self.counts.unwritten += 1
                continue
            seats = [profile.submission for profile in seating.seats] if seating else []
            plan = self._story.plans.get(match)
            if plan is None or plan.data["ladder"] != session.season[0]:
                raise DoesNotFollow(f"match {match} is not one of this ladder")
            planned = plan.data["games"][0]
            if seats != planned:
                raise DoesNotFollow(
                    f"from these steps the matchmaker pairs the submissions {seats},"
                    f" and match {match} has {planned}"
                )
            self.counts.matches += 1

    def _seats(self, match: int) -> list[int]:
        """Return the bots of a match by seat, in its first game."""
        plan = self._story.plans.get(match)
        if plan is None:
            raise DoesNotFollow(f"the log has no match {match}")
        bots = [self._ratings.bot_of(number) for number in plan.data["games"][0]]
        return [bot for bot in bots if bot is not None]

    def _unmade(self) -> Iterator[AuditFinding]:
        """Yield the matches of ladders that no recorded decision made."""
        for match, plan in self._story.plans.items():
            if plan.data["kind"] != LADDER_MATCH or match in self._made:
                continue
            since = self._since.get(plan.data["ladder"])
            if since is None or plan.leaf < since:
                self.counts.unrecorded += 1
            elif plan.time + LATE < self._story.end:
                text = f"no decision of the matchmaker made match {match}"
                yield AuditFinding(Check.MATCHMAKING, text, plan.leaf)


def _made_by(steps: Sequence[Step]) -> set[int]:
    """Return the matches that some steps make."""
    return {
        match for kind, *rest in steps if kind == StepKind.MAKE for match in rest[0]
    }
