"""`manage.py anomalies`: findings about a season for operators, with evidence."""

import json
import os
from collections.abc import Iterator
from typing import Any

from django.core.management.base import CommandError, CommandParser

from ladder.common.commands import LongCommand, be_nice
from ladder.extras.anomalies import selectors
from ladder.extras.anomalies.explained import ReportText, as_json, explain
from ladder.extras.anomalies.models import AnomalyReport
from ladder.ratings.acts import newest_season
from ladder.ratings.models import Season
from torres.common.errors import LadderError
from torres.common.quoting import quoted


class Command(LongCommand):
    help = (
        "Report pairs of bots that gain together, uploads that are alike, submissions"
        " that seem to lose on purpose, and owners of many variants. Nothing is"
        " punished. The dispatcher starts this once a day for each season that has"
        " grown. It may be stopped at any moment."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--ladder", help="the newest season of this ladder, now (its slug)"
        )
        parser.add_argument(
            "--json", action="store_true", help="print the reports as JSON"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        be_nice()
        # numpy reads this when it is imported. More threads would take the processors
        # from the workers.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from ladder.extras.anomalies.season_report import make_report  # noqa: PLC0415

        reports = [make_report(season) for season in _seasons(options["ladder"])]
        if options["json"]:
            documents = [as_json(report) for report in reports]
            self.stdout.write(json.dumps(documents, indent=2))
            return
        for report in reports:
            for line in report_lines(report):
                self.stdout.write(line)


def report_lines(report: AnomalyReport) -> Iterator[str]:
    """Yield the lines of a report for the terminal."""
    text = explain(report)
    yield f"{text.ladder}, season {text.season}, up to entry {text.seq}"
    yield f"  {text.tested}"
    yield from _section_lines(text)
    if not text.sections:
        yield "  Nothing to look at."


def _section_lines(text: ReportText) -> Iterator[str]:
    for heading, findings in text.sections.items():
        yield ""
        yield heading
        for each in findings:
            yield f"- {each.title}"
            yield from (f"    {line}" for line in each.evidence)
            if each.finding.games:
                games = ", ".join(f"/games/{game}/" for game in each.finding.games)
                yield f"    Games to look at: {games}"
            yield from (f"    > {step}" for step in each.next_steps)


def _seasons(ladder: str | None) -> list[Season]:
    if ladder is None:
        return selectors.due_seasons()
    try:
        return [newest_season(ladder)]
    except LadderError as error:
        raise CommandError(
            f"Ladder {quoted(ladder)} has no season. See manage.py status."
        ) from error
