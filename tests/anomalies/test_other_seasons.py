"""Reports of anomalies in seasons of their own: an empty one, and one of a service."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from ladder.common.jobs import JobProcess
from ladder.extras.anomalies import selectors
from ladder.extras.anomalies.jobs import ANOMALIES
from ladder.extras.anomalies.models import AnomalyReport
from ladder.extras.anomalies.season_report import make_report
from ladder.ratings.ladders import ensure_default_ladder
from tests.anomalies.factories import season_of_strangers
from tests.games.test_kills import environment

pytestmark = pytest.mark.usefixtures("data_dir")


@pytest.mark.django_db
def test_an_empty_season_has_an_empty_report():
    season = ensure_default_ladder().seasons.get()

    report = make_report(season)

    assert report.report["findings"] == []
    assert selectors.due_seasons() == []
    client = Client()
    client.force_login(User.objects.create_superuser("olga"))
    page = client.get("/anomalies/").content.decode()
    assert "no rated games yet" in page


@pytest.mark.django_db(transaction=True)
def test_the_dispatcher_starts_a_process_for_it(monkeypatch):
    season_of_strangers(120)
    for name, value in environment().items():
        monkeypatch.setenv(name, value)
    process = JobProcess(ANOMALIES)

    process.ensure()
    assert process.child is not None
    assert process.child.wait(240) == 0

    assert AnomalyReport.objects.count() == 1
    assert not ANOMALIES.is_due()
    process.close()
