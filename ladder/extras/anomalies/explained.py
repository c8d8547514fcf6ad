"""Reports in words: for each finding the evidence, how to read it, and what to do next.

The names are looked up when a report is shown, so that a deleted account has none.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User

from ladder.bots.models import Bot, Submission
from ladder.extras.anomalies.findings import AnomalyFinding, FindingKind
from ladder.extras.anomalies.models import AnomalyReport

SMALLEST_SHOWN_CHANCE = 1e-12
DELETED = "(deleted)"
HEADINGS = {
    FindingKind.COLLUSION: "Bots that gain together",
    FindingKind.COPIES: "Uploads of different owners that are alike",
    FindingKind.SANDBAGGING: "Submissions that seem to lose on purpose",
    FindingKind.VARIANTS: "Owners of many variants",
}


@dataclass(frozen=True, slots=True)
class FindingText:
    """A finding in words. `bots` are the slugs of its bots that exist."""

    finding: AnomalyFinding
    title: str
    evidence: list[str]
    next_steps: list[str]
    bots: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ReportText:
    """A report in words. `tested` says what was examined.

    `sections` are the findings by the heading of their kind.
    """

    ladder: str
    season: int
    seq: int
    created_at: datetime
    tested: str
    sections: dict[str, list[FindingText]]


@dataclass(frozen=True, slots=True)
class _Names:
    """The names of all that a report is about, by id. Deleted rows have no name."""

    bots: Mapping[int, str]
    submissions: Mapping[int, str]
    owners: Mapping[int, str]

    def bot(self, key: int) -> str:
        return self.bots.get(key, DELETED)

    def submission(self, key: int) -> str:
        return self.submissions.get(key, DELETED)

    def owner(self, key: int) -> str:
        return self.owners.get(key, DELETED)


def explain(report: AnomalyReport) -> ReportText:
    """Return a report in words. Four queries."""
    findings = [AnomalyFinding.load(each) for each in report.report["findings"]]
    names = _names(findings)
    texts = [_explained(finding, names) for finding in findings]
    sections: dict[str, list[FindingText]] = {}
    for kind, heading in HEADINGS.items():
        if found := [text for text in texts if text.finding.kind == kind]:
            sections[heading] = found
    return ReportText(
        report.season.ladder.slug,
        report.season.number,
        report.seq,
        report.created_at,
        _tested(report.report["tested"]),
        sections,
    )


def as_json(report: AnomalyReport) -> dict[str, object]:
    """Return a report as a JSON document, with names and texts."""
    text = explain(report)
    return {
        "ladder": text.ladder,
        "season": text.season,
        "seq": text.seq,
        "created_at": text.created_at.isoformat(),
        "tested": report.report["tested"],
        "findings": [
            {
                "kind": each.finding.kind,
                "form": each.finding.form,
                "title": each.title,
                "bots": each.bots,
                "submissions": each.finding.submissions,
                "games": each.finding.games,
                "chance": each.finding.chance,
                "numbers": each.finding.numbers,
                "paths": each.finding.paths,
                "evidence": each.evidence,
                "next_steps": each.next_steps,
            }
            for findings in text.sections.values()
            for each in findings
        ],
    }


def _names(findings: list[AnomalyFinding]) -> _Names:
    bots = {pk for each in findings for pk in (*each.bots, *each.group)}
    submissions = Submission.objects.filter(
        pk__in={pk for each in findings for pk in each.submissions}
    ).select_related("bot")
    owners = User.objects.filter(pk__in={pk for each in findings for pk in each.owners})
    return _Names(
        dict(Bot.objects.filter(pk__in=bots).values_list("pk", "slug")),
        {row.pk: str(row) for row in submissions.defer("log", "report")},
        dict(owners.values_list("pk", "username")),
    )


def _explained(finding: AnomalyFinding, names: _Names) -> FindingText:
    title, evidence, next_steps = _TEXTS[finding.kind](finding, names)
    if finding.chance is not None:
        evidence.append(_chance(finding.chance))
    return FindingText(
        finding,
        title,
        evidence,
        next_steps,
        [names.bots[bot] for bot in finding.bots if bot in names.bots],
    )


_Text = tuple[str, list[str], list[str]]


def _collusion(finding: AnomalyFinding, names: _Names) -> _Text:
    first, second = (names.bot(bot) for bot in finding.bots)
    numbers = finding.numbers
    together = finding.form == "together"
    title = (
        f"{first} and {second} gain from each other"
        if together
        else f"{first} seems to help {second}"
    )
    evidence = [
        f"They sat together at {numbers['games']:.0f} tables of 3 or 4.",
        (
            f"There {first} beat {_points(numbers['gain_first'])} of the third parties,"
            f" and {second} {_points(numbers['gain_second'])}, than the model predicts,"
            " compared with the tables at which only one of them sits. The standard"
            f" error of the mean is {100 * numbers['error']:.1f} points."
        ),
        f"{first} finished ahead of {second} in {numbers['ahead']:.0%} of these games.",
        f"In {numbers['duels']:.0f} games only these two played.",
    ]
    if finding.group:
        group = ", ".join(names.bot(bot) for bot in finding.group)
        evidence.append(f"Findings connect these bots: {group}.")
    return (
        title,
        evidence,
        [
            "Watch these games: does one bot spare the other, or build for it?",
            "Compare the two uploads and what you know about their owners.",
            f"If it is one person: manage.py operator merge {first} --into {second}.",
            "If it is an agreement: operator bench or ban, and void for the games.",
        ],
    )


def _copies(finding: AnomalyFinding, names: _Names) -> _Text:
    numbers = finding.numbers
    first, second = (names.submission(each) for each in finding.submissions)
    owners = " and ".join(names.owner(owner) for owner in finding.owners)
    evidence = [f"The owners are {owners}. {first} was uploaded first."]
    if numbers["of"]:
        evidence.append(
            f"An estimated {numbers['share']:.0%} of the smaller program is in the"
            f" other one ({numbers['shared']:.0f} of {numbers['of']:.0f} compared runs"
            " of tokens). Names, comments, white space and the order of functions do"
            " not matter. Kits, house bots and the documentation do not count."
        )
    if finding.paths:
        paths = ", ".join(finding.paths)
        evidence.append(f"{numbers['files']:.0f} files are equal: {paths}.")
    return (
        f"{second} is like {first}",
        evidence,
        [
            "Read both uploads. Both may use the same library or published bot.",
            "Ask the owners. The one who uploaded first need not be the author.",
            "If your ladder forbids copies: manage.py operator ban.",
            "If it is one person: manage.py operator merge.",
        ],
    )


def _sandbagging(finding: AnomalyFinding, names: _Names) -> _Text:
    numbers = finding.numbers
    own = names.submission(finding.submissions[0])
    steps = [
        (
            "Watch these games. A bot that loses on purpose ends turns early, or"
            " forfeits."
        ),
        (
            "Look for harmless causes first, such as a slow worker or a mistake in a"
            " version."
        ),
        "If it is on purpose: manage.py operator void for the lost games, or bench.",
    ]
    forfeits = (
        f"It forfeited {numbers['forfeits']:.0f} of {numbers['games']:.0f} games in the"
        f" weak time, and {numbers['forfeits_after']:.0f} of"
        f" {numbers['games_after']:.0f} others."
    )
    if finding.form == "dip":
        others = " and ".join(
            names.submission(each) for each in finding.submissions[1:]
        )
        return (
            f"{own} is far weaker than earlier and later uploads",
            [
                (
                    f"Its strength is {numbers['before']:.2f} logits; {others} have at"
                    f" least {numbers['after']:.2f}. One logit is 73 wins in 100 games."
                ),
                forfeits,
            ],
            steps,
        )
    when = "when the finals began" if finding.form == "finals" else "at some point"
    return (
        f"{own} became stronger {when}, with the same files",
        [
            (
                f"Before game {numbers['turn']:.0f} it beat"
                f" {_points(numbers['before'])} of its opponents than its mean strength"
                " predicts."
            ),
            f"From then on it beat {_points(numbers['after'])}.",
            forfeits,
        ],
        steps,
    )


def _variants(finding: AnomalyFinding, names: _Names) -> _Text:
    numbers = finding.numbers
    owner = names.owner(finding.owners[0])
    best = names.submission(finding.submissions[0])
    luck = numbers["estimate"] - numbers["shrunk"]
    return (
        (
            f"{owner} has tried {numbers['tries']:.0f} variants with"
            f" {len(finding.bots)} bots ({finding.form})"
        ),
        [
            (
                f"The best is {best}, after {numbers['games']:.0f} games:"
                f" {numbers['estimate']:+.2f} points above the mean of all tries."
            ),
            (
                "The best of many tries is partly the luckiest. Without that luck it is"
                f" {numbers['shrunk']:+.2f} ± {numbers['error']:.2f} points, so"
                f" {luck:.2f} points are probably luck."
            ),
        ],
        [
            "Nothing is wrong with many tries.",
            (
                "Announce the result of the best only when it is not provisional any"
                " more, or settle the ranks in finals."
            ),
        ],
    )


_TEXTS: Mapping[FindingKind, Callable[[AnomalyFinding, _Names], _Text]] = {
    FindingKind.COLLUSION: _collusion,
    FindingKind.COPIES: _copies,
    FindingKind.SANDBAGGING: _sandbagging,
    FindingKind.VARIANTS: _variants,
}


def _points(share: float) -> str:
    """Return a difference of shares in words."""
    word = "more" if share >= 0 else "fewer"
    return f"{100 * abs(share):.0f} percentage points {word}"


def _chance(chance: float) -> str:
    shown = max(chance, SMALLEST_SHOWN_CHANCE)
    return f"An honest bot shows this, in one test, with a probability of {shown:.1g}."


def _tested(tested: Mapping[str, Any]) -> str:
    """Return what was examined, and how often a report is wrong."""
    if not tested["games"]:
        return "The season has no rated games yet."
    return (
        f"{tested['games']} of {tested['games_played']} games of"
        f" {tested['submissions']} submissions; {tested['pairs']} pairs of bots;"
        f" {tested['strength_tests']} tests of strength; {tested['uploads']} uploads of"
        f" {tested['owners']} owners, of which {tested['copies']} pairs are alike. If"
        f" all bots are honest, at most {tested['rate']:.0%} of such reports name bots"
        " that gain together or lose on purpose."
    )
