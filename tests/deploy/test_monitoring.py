"""The files for Prometheus and Grafana use metrics and parts that exist."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from ladder.health import signs
from tests.factories import everything

MONITORING = Path(__file__).resolve().parents[2] / "deploy" / "monitoring"
TOKEN = "a-token-for-prometheus"
METRIC = re.compile(r"\btorres_\w+")
PART = re.compile(r'part=~"([^"]+)"')


def rules() -> list[dict[str, object]]:
    (group,) = yaml.safe_load((MONITORING / "alerts.yml").read_text())["groups"]
    return group["rules"]


def expressions() -> Iterator[str]:
    yield from (str(rule["expr"]) for rule in rules())
    board = json.loads((MONITORING / "grafana.json").read_text())
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel["targets"])


@pytest.mark.django_db
def test_every_metric_that_is_used_exists(settings: Settings, data_dir: Path) -> None:
    settings.TORRES_METRICS_TOKEN = TOKEN
    everything()
    Client().get("/")
    answer = Client().get("/metrics", HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
    families = text_string_to_metric_families(answer.content.decode())
    # A metric without samples still has its family.
    names = {family.name for family in families}
    used = {name for text in expressions() for name in METRIC.findall(text)}

    assert len(used) > 10
    endings = r"_(total|bucket|count|sum)$"
    assert {re.sub(endings, "", name) for name in used} <= names


def test_every_part_that_is_named_exists() -> None:
    named = {part for text in expressions() for part in PART.findall(text)}

    assert named == {"|".join(signs.ESSENTIAL)}


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: str(rule["alert"]))
def test_every_alert_says_what_to_do(rule: dict[str, dict[str, str]]) -> None:
    assert rule["labels"]["severity"] in {"page", "ticket"}
    assert rule["annotations"]["summary"].endswith(".")
    assert rule["annotations"]["advice"].endswith(".")


def test_the_board_has_panels_that_do_not_overlap() -> None:
    board = json.loads((MONITORING / "grafana.json").read_text())
    taken = set()
    for panel in board["panels"]:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells


def test_prometheus_reads_the_rules() -> None:
    config = yaml.safe_load((MONITORING / "prometheus.yml").read_text())

    assert all((MONITORING / name).is_file() for name in config["rule_files"])
    assert config["scrape_configs"][0]["static_configs"][0]["targets"] == ["web:8000"]
