"""Reports in words: for each finding the evidence, how to read it, and what to do next.

The words are in the language of the page; the API and the command read English. The
names are looked up when a report is shown, so that a deleted account has none.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils.translation import gettext as _, gettext_noop

from ladder.bots.models import Bot, Submission
from ladder.extras.anomalies.findings import AnomalyFinding, FindingKind
from ladder.extras.anomalies.models import AnomalyReport

SMALLEST_SHOWN_CHANCE = 1e-12
DELETED = gettext_noop("(deleted)")
HEADINGS = {
    FindingKind.COLLUSION: gettext_noop("Bots that gain together"),
    FindingKind.COPIES: gettext_noop("Uploads of different owners that are alike"),
    FindingKind.SANDBAGGING: gettext_noop("Submissions that seem to lose on purpose"),
    FindingKind.VARIANTS: gettext_noop("Owners of many variants"),
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
        return self.bots.get(key, _(DELETED))

    def submission(self, key: int) -> str:
        return self.submissions.get(key, _(DELETED))

    def owner(self, key: int) -> str:
        return self.owners.get(key, _(DELETED))


def explain(report: AnomalyReport) -> ReportText:
    """Return a report in words. Four queries."""
    findings = [AnomalyFinding.load(each) for each in report.report["findings"]]
    names = _names(findings)
    texts = [_explained(finding, names) for finding in findings]
    sections: dict[str, list[FindingText]] = {}
    for kind, heading in HEADINGS.items():
        if found := [text for text in texts if text.finding.kind == kind]:
            sections[_(heading)] = found
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
    numbers = finding.numbers
    first, second = (names.bot(bot) for bot in finding.bots)
    pair = {"first": first, "second": second}
    title = _("%(first)s seems to help %(second)s")
    if finding.form == "together":
        title = _("%(first)s and %(second)s gain from each other")
    evidence = [
        _("They sat together at %(tables)s tables of 3 or 4.")
        % {"tables": f"{numbers['games']:.0f}"},
        _(
            "There %(first)s beat %(gain_first)s of the third parties, and %(second)s"
            " %(gain_second)s, than the model predicts, compared with the tables at"
            " which only one of them sits. The standard error of the mean is %(error)s"
            " points."
        )
        % {
            **pair,
            "gain_first": _points(numbers["gain_first"]),
            "gain_second": _points(numbers["gain_second"]),
            "error": f"{100 * numbers['error']:.1f}",
        },
        _("%(first)s finished ahead of %(second)s in %(share)s of these games.")
        % {**pair, "share": f"{numbers['ahead']:.0%}"},
        _("In %(games)s games only these two played.")
        % {"games": f"{numbers['duels']:.0f}"},
    ]
    if finding.group:
        group = ", ".join(names.bot(bot) for bot in finding.group)
        evidence.append(_("Findings connect these bots: %(bots)s.") % {"bots": group})
    merge = {"command": f"manage.py operator merge {first} --into {second}"}
    return (
        title % pair,
        evidence,
        [
            _("Watch these games: does one bot spare the other, or build for it?"),
            _("Compare the two uploads and what you know about their owners."),
            _("If it is one person: %(command)s.") % merge,
            _("If it is an agreement: operator bench or ban, and void for the games."),
        ],
    )


def _copies(finding: AnomalyFinding, names: _Names) -> _Text:
    numbers = finding.numbers
    first, second = (names.submission(each) for each in finding.submissions)
    pair = {"first": first, "second": second}
    owners = _and(names.owner(owner) for owner in finding.owners)
    evidence = [
        _("The owners are %(owners)s. %(first)s was uploaded first.")
        % {"owners": owners, "first": first}
    ]
    if numbers["of"]:
        evidence.append(
            _(
                "An estimated %(share)s of the smaller program is in the other one"
                " (%(shared)s of %(of)s compared runs of tokens). Names, comments,"
                " white space and the order of functions do not matter. Kits, house"
                " bots and the documentation do not count."
            )
            % {
                "share": f"{numbers['share']:.0%}",
                "shared": f"{numbers['shared']:.0f}",
                "of": f"{numbers['of']:.0f}",
            }
        )
    if finding.paths:
        found = {"files": f"{numbers['files']:.0f}", "paths": ", ".join(finding.paths)}
        evidence.append(_("%(files)s files are equal: %(paths)s.") % found)
    return (
        _("%(second)s is like %(first)s") % pair,
        evidence,
        [
            _("Read both uploads. Both may use the same library or published bot."),
            _("Ask the owners. The one who uploaded first need not be the author."),
            _("If your ladder forbids copies: %(command)s.")
            % {"command": "manage.py operator ban"},
            _("If it is one person: %(command)s.")
            % {"command": "manage.py operator merge"},
        ],
    )


def _sandbagging(finding: AnomalyFinding, names: _Names) -> _Text:
    numbers = finding.numbers
    own = names.submission(finding.submissions[0])
    title, evidence = _dip(finding, names) if finding.form == "dip" else _rise(finding)
    counts = ("forfeits", "games", "forfeits_after", "games_after")
    forfeits = _(
        "It forfeited %(forfeits)s of %(games)s games in the weak time, and"
        " %(forfeits_after)s of %(games_after)s others."
    ) % {name: f"{numbers[name]:.0f}" for name in counts}
    return (
        title % {"upload": own},
        [*evidence, forfeits],
        [
            _(
                "Watch these games. A bot that loses on purpose ends turns early, or"
                " forfeits."
            ),
            _(
                "Look for harmless causes first, such as a slow worker or a mistake in"
                " a version."
            ),
            _("If it is on purpose: %(command)s for the lost games, or bench.")
            % {"command": "manage.py operator void"},
        ],
    )


def _dip(finding: AnomalyFinding, names: _Names) -> tuple[str, list[str]]:
    """Return the title and the evidence of an upload between stronger ones."""
    numbers = finding.numbers
    strength = _(
        "Its strength is %(before)s logits; %(others)s have at least %(after)s. One"
        " logit is 73 wins in 100 games."
    ) % {
        "before": f"{numbers['before']:.2f}",
        "others": _and(names.submission(each) for each in finding.submissions[1:]),
        "after": f"{numbers['after']:.2f}",
    }
    return _("%(upload)s is far weaker than earlier and later uploads"), [strength]


def _rise(finding: AnomalyFinding) -> tuple[str, list[str]]:
    """Return the title and the evidence of an upload that became stronger."""
    numbers = finding.numbers
    title = _("%(upload)s became stronger at some point, with the same files")
    if finding.form == "finals":
        title = _(
            "%(upload)s became stronger when the finals began, with the same files"
        )
    before = _(
        "Before game %(turn)s it beat %(points)s of its opponents than its mean"
        " strength predicts."
    ) % {"turn": f"{numbers['turn']:.0f}", "points": _points(numbers["before"])}
    after = _("From then on it beat %(points)s.") % {
        "points": _points(numbers["after"])
    }
    return title, [before, after]


def _variants(finding: AnomalyFinding, names: _Names) -> _Text:
    numbers = finding.numbers
    luck = numbers["estimate"] - numbers["shrunk"]
    is_provisional = finding.form == "provisional"
    title = _(
        "%(owner)s has tried %(tries)s variants with %(bots)s bots (%(state)s)"
    ) % {
        "owner": names.owner(finding.owners[0]),
        "tries": f"{numbers['tries']:.0f}",
        "bots": len(finding.bots),
        "state": _("provisional") if is_provisional else _("settled"),
    }
    best = _(
        "The best is %(best)s, after %(games)s games: %(points)s points above the mean"
        " of all tries."
    ) % {
        "best": names.submission(finding.submissions[0]),
        "games": f"{numbers['games']:.0f}",
        "points": f"{numbers['estimate']:+.2f}",
    }
    shrunk = _(
        "The best of many tries is partly the luckiest. Without that luck it is"
        " %(points)s ± %(error)s points, so %(luck)s points are probably luck."
    ) % {
        "points": f"{numbers['shrunk']:+.2f}",
        "error": f"{numbers['error']:.2f}",
        "luck": f"{luck:.2f}",
    }
    return (
        title,
        [best, shrunk],
        [
            _("Nothing is wrong with many tries."),
            _(
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


def _and(names: Iterable[str]) -> str:
    return _(" and ").join(names)


def _points(share: float) -> str:
    """Return a difference of shares in words."""
    points = {"points": f"{100 * abs(share):.0f}"}
    if share >= 0:
        return _("%(points)s percentage points more") % points
    return _("%(points)s percentage points fewer") % points


def _chance(chance: float) -> str:
    shown = max(chance, SMALLEST_SHOWN_CHANCE)
    return _(
        "An honest bot shows this, in one test, with a probability of %(chance)s."
    ) % {"chance": f"{shown:.1g}"}


def _tested(tested: Mapping[str, Any]) -> str:
    """Return what was examined, and how often a report is wrong."""
    if not tested["games"]:
        return _("The season has no rated games yet.")
    return _(
        "%(games)s of %(games_played)s games of %(submissions)s submissions; %(pairs)s"
        " pairs of bots; %(strength_tests)s tests of strength; %(uploads)s uploads of"
        " %(owners)s owners, of which %(copies)s pairs are alike. If all bots are"
        " honest, at most %(rate)s of such reports name bots that gain together or lose"
        " on purpose."
    ) % {**tested, "rate": f"{tested['rate']:.0%}"}
