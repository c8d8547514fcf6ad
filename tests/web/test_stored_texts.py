"""Sentences of rows and of `torres` are translated, with the values in them."""

import pytest
from django.utils import translation

from ladder.common import stored_texts
from ladder.common.stored_texts import translated
from ladder.games.models import GameStatus
from torres.checking.causes import CAUSES


def german(text: str) -> str:
    with translation.override("de"):
        return translated(text)


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_the_verdicts_of_bots_are_translated(cause) -> None:
    assert german(cause.cause) != cause.cause
    assert german(cause.cure) != cause.cure
    assert translated(cause.cause) == cause.cause


def test_a_sentence_keeps_its_values() -> None:
    text = "bot-1 was next in line (12 games, 3 with this upload)"

    assert german(text) == "bot-1 war an der Reihe (12 Partien, 3 mit diesem Upload)"


def test_a_language_without_a_catalogue_takes_the_sentences_from_no_other() -> None:
    sentence = "alpha is better than beta."
    stored_texts._patterns.cache_clear()

    with translation.override("nl"):
        assert translated(sentence) == sentence

    assert german(sentence) != sentence


def test_the_text_with_the_most_words_in_common_is_translated() -> None:
    text = "There is no bot “nobody”. Choose one from the list of bots."

    assert german(text) == (
        "Es gibt keinen Bot „nobody“. Einen aus der Liste der Bots wählen."
    )


def test_a_sentence_in_a_sentence_is_translated() -> None:
    text = "It plays with 2 seats and fails with 3 and 4: it ended with an error."

    assert german(text) == (
        "Er spielt mit 2 Plätzen und scheitert mit 3 and 4: er endete mit einem Fehler."
    )


def test_other_texts_stay_as_they_are() -> None:
    for text in ("", "grendel", "It is 100 % fast.", "%(cause)s"):
        assert german(text) == text


def test_statuses_have_a_translation() -> None:
    assert [german(status) for status in (GameStatus.RUNNING, "finished")] == [
        "läuft",
        "beendet",
    ]


def test_a_text_of_thousands_of_clauses_costs_little() -> None:
    hostile = 5000 * "seed: " + "finished"

    assert german(hostile) == hostile
