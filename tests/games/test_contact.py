"""The dispatcher's memory of outages of the database."""

from datetime import timedelta

from ladder.dispatch.contact import MIN_OUTAGE_S, UNKNOWN_PAST, DatabaseContact


def test_what_was_before_the_start_counts_as_an_outage():
    contact = DatabaseContact()

    assert contact.confirm(100.0).began == UNKNOWN_PAST
    later = contact.confirm(105.0)
    assert (later.began, later.ended) == (UNKNOWN_PAST, timedelta(seconds=5))


def test_a_long_silence_is_an_outage_and_a_short_one_is_not():
    contact = DatabaseContact()
    contact.confirm(0.0)
    short = contact.confirm(MIN_OUTAGE_S - 1)
    assert short.began == UNKNOWN_PAST

    back = MIN_OUTAGE_S + 59
    outage = contact.confirm(back)

    assert outage.began == timedelta(seconds=60)
    assert outage.ended == timedelta(0)
    assert contact.confirm(back + 5).ended == timedelta(seconds=5)
