"""The page of a position says in the reader's language why a text is wrong."""

from http import HTTPStatus
from pathlib import Path
from random import Random

import pytest
from django.test import Client
from django.utils import translation
from pytest_django import Settings

from engine.errors import BadPosition
from engine.position_text import position_from, text_of
from ladder.common.stored_texts import translated
from tests.engine.test_position_text import mutated, positions, sample
from tests.web.catalogues import write_marked

TEXTS = 6_000


def test_the_page_says_in_german_what_to_write(client: Client) -> None:
    text = sample().replace("phase=2", "phase=7")
    response = client.get(
        "/position/", {"text": text}, headers={"Accept-Language": "de"}
    )

    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert "phase: ist 7; 1 bis 3 schreiben, oder 0" in response.content.decode()


@pytest.mark.slow
def test_every_reason_against_a_text_is_translated(
    settings: Settings, tmp_path: Path
) -> None:
    write_marked(tmp_path)
    settings.LOCALE_PATHS = [tmp_path]
    reasons = {}
    rng, donor = Random("reasons"), sample()
    found = positions("reasons", 0.02)
    for _ in range(TEXTS // 20):
        torres = next(found)
        text = text_of(torres.position, torres.rules)
        for _ in range(20):
            try:
                position_from(mutated(text, donor, rng))
            except BadPosition as error:
                reasons[str(error)] = None
        donor = text

    with translation.override("de"):
        missing = [each for each in reasons if "⟦" not in translated(each)]
    assert missing == []
    assert len(reasons) > 1_000
