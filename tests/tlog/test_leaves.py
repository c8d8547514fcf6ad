"""Leaves of a log that another version of the service wrote."""

import pytest

from torres.tlog.leaves import BadLeaf, LeafKind, parse_leaf

LEAF = '{"data":{"size":1},"time":"2026-11-27T12:00:00Z","type":"%s"}'


def test_a_kind_of_a_newer_version_is_named_with_the_cure() -> None:
    with pytest.raises(BadLeaf, match="know its kind, 'moon-phase'") as refused:
        parse_leaf(LEAF % "moon-phase")
    assert "install the newest version" in str(refused.value)


def test_a_leaf_of_a_known_kind_that_has_other_members_is_refused() -> None:
    with pytest.raises(BadLeaf, match="a leaf cannot be read") as refused:
        parse_leaf(LEAF % LeafKind.GAME_FINISHED)
    assert "version" not in str(refused.value)
