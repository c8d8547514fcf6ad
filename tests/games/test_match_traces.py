"""A match continues the trace of an upload, or begins one; its games belong to it."""

from collections.abc import Iterator

import pytest
from django.db import connection
from pytest_django import Settings

from engine.referee import ServiceFault
from ladder.bots.models import Bot, Submission
from ladder.common import tracing
from ladder.games.models import Game, Match
from ladder.games.worker import registry
from ladder.games.worker.play import AttemptEnd, RunningGames, play
from ladder.ops.chaos.scripted_player import ScriptedPlayer, open_player
from tests.games import factories
from tests.ops.collector import CollectedSpan, Collector, running_collector

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def collector(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Collector]:
    """Send the traces of this process to a collector."""
    with running_collector() as running:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", running.url)
        monkeypatch.setattr(tracing, "_writers", [])
        settings.TRACES = True
        yield running
        send()


def send() -> None:
    """Send what waits. The next span opens another writer."""
    for writer in tracing._writers:
        assert writer is not None
        writer.close()
    tracing._writers.clear()


def upload(name: str) -> Bot:
    """Add a bot whose upload has a trace."""
    bot = factories.bot(name)
    trace = tracing.record("upload", {"torres.bot": name}, parent="")
    bot.submissions.update(traceparent=trace)
    return bot


def names(found: list[CollectedSpan], ids: list[str]) -> list[str]:
    """Return the names of the bots, or of the spans, with these ids."""
    by_id = {span.id: span for span in found}
    return sorted(
        by_id[each].attributes.get("torres.bot") or by_id[each].name for each in ids
    )


def test_the_first_match_continues_the_trace_of_an_upload(collector: Collector) -> None:
    new, old = upload("new"), upload("old")
    factories.match([old, factories.bot("untraced")])
    first = factories.match([old, new])
    second = factories.match([new, old])
    send()

    uploads = {s.attributes["torres.bot"]: s for s in collector.spans("upload")}
    spans = {span.id: span for span in collector.spans("match")}
    of_old, of_new, later = (
        spans[match.traceparent.split("-")[2]] for match in Match.objects.order_by("pk")
    )
    assert (of_new.trace, of_new.parent) == (uploads["new"].trace, uploads["new"].id)
    assert of_old.trace == uploads["old"].trace
    assert names(collector.spans(), of_new.links) == ["old"]
    assert later.parent == ""
    assert later.trace not in {span.trace for span in uploads.values()}
    assert names(collector.spans(), later.links) == ["new", "old"]
    assert first.traceparent != second.traceparent


def test_two_newcomers_at_one_table_are_linked(collector: Collector) -> None:
    factories.match([upload("one"), upload("two")])
    send()

    (match,) = collector.spans("match")
    (moment,) = collector.spans("first match")
    assert collector.path(match) == ["upload", "match"]
    assert collector.path(moment) == ["upload", "first match"]
    assert match.trace != moment.trace
    assert moment.links == [match.id]
    assert names(collector.spans(), match.links) == ["two"]


def test_a_game_is_in_the_trace_of_its_match(collector: Collector) -> None:
    game = factories.match([upload("one"), upload("two")]).games.get()
    worker = registry.current_worker()
    assert play(game.pk, worker, RunningGames(open_player)) == AttemptEnd.FINISHED
    send()

    (attempt,) = collector.spans("game")
    assert collector.path(attempt) == ["upload", "match", "game"]
    assert names(collector.spans(), attempt.links) == ["two"]
    assert attempt.attributes["torres.end"] == "finished"
    assert not attempt.failed
    for name in ("claim", "open players", "referee", "finish"):
        (part,) = collector.spans(name)
        assert part.parent == attempt.id
        assert attempt.began <= part.began <= part.ended <= attempt.ended
    written = [s for s in collector.spans() if "db.query.text" in s.attributes]
    updates = [s for s in written if s.name.endswith(" games_game")]
    assert {collector.path(span)[-2] for span in updates} == {"finish"}
    assert connection.execute_wrappers == []


def test_a_row_with_nonsense_disturbs_nothing(collector: Collector) -> None:
    game = factories.game()
    long = "00-" + "f" * 52
    for traceparent in ("x", "00-00-00-00", long, "00-" + "0" * 32 + "-1-01"):
        Submission.objects.update(traceparent=traceparent)
        Match.objects.update(traceparent=traceparent)
        factories.match([seat.submission.bot for seat in game.seats.all()])
    ended = play(game.pk, registry.current_worker(), RunningGames(open_player))
    assert ended == AttemptEnd.FINISHED
    send()

    (attempt,) = collector.spans("game")
    assert (attempt.parent, attempt.links) == ("", [])


def test_failures_are_marked_without_their_texts(collector: Collector) -> None:
    def work() -> None:
        with tracing.span("work", parent=""), tracing.span("part"):
            Submission.objects.filter(digest="a secret").exists()
            raise ValueError("a secret")

    with pytest.raises(ValueError, match="a secret"):
        work()
    send()

    found = collector.spans()
    assert [span.name for span in found[:2]] == ["work", "part"]
    for span in found[:2]:
        assert span.failed
        assert span.attributes["error.type"] == "ValueError"
    (statement,) = found[2:]
    assert statement.parent == found[1].id
    assert "a secret" not in repr(found)


def test_an_attempt_that_fails_says_so(collector: Collector) -> None:
    class Broken(ScriptedPlayer):
        def start(self, hello: object) -> None:
            raise ServiceFault("the disk is full")

    game = factories.game()
    running = RunningGames(lambda bot, limits, *, strict_clock: Broken(bot.digest))
    assert play(game.pk, registry.current_worker(), running) == AttemptEnd.FAILED
    send()

    (attempt,) = collector.spans("game")
    (referee,) = collector.spans("referee")
    assert attempt.attributes["torres.end"] == "failed"
    assert referee.failed
    assert referee.attributes["error.type"] == "ServiceFault"


def test_a_trace_that_the_sampler_leaves_out_stays_out(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_always_off")
    game = factories.match([upload("one"), upload("two")]).games.get()
    assert game.match.traceparent[-1] in "02"  # the last bit says whether it is sent
    with tracing.span("work", parent=game.match.traceparent):
        assert connection.execute_wrappers == []
    worker = registry.current_worker()
    assert play(game.pk, worker, RunningGames(open_player)) == AttemptEnd.FINISHED
    send()

    assert collector.spans() == []


def test_nothing_is_recorded_while_traces_are_off(settings: Settings) -> None:
    assert not settings.TRACES
    game = factories.game()
    assert not tracing.is_on()
    assert tracing.record("upload", parent="") == tracing.present() == ""
    with tracing.span("work") as span:
        span.describe({"torres.game": 1})
        assert span.traceparent == ""
    assert Game.objects.get(pk=game.pk).match.traceparent == ""


def test_a_wrong_variable_switches_traces_off(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "_writers", [])
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1")
    settings.TRACES = True

    assert tracing.record("upload", parent="") == ""
    assert not tracing.is_on()
