"""Stored replays are small and stay readable."""

import json
import statistics
from concurrent.futures import ThreadPoolExecutor

import pytest
import zstandard

from engine.editions import PRESETS
from ladder.games import replays
from tests.games.train_dictionary import replay

SEATS = range(2, 5)


def as_json(document) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("seats", SEATS)
def test_a_replay_is_unpacked_byte_for_byte(preset, seats):
    document = replay(preset, seats)

    stored = replays.pack(document)

    assert replays.unpack(stored) == as_json(document)
    assert zstandard.get_frame_parameters(stored).dict_id == replays.NEWEST
    assert isinstance(json.loads(replays.with_columns(document))["moves"], dict)


def test_a_random_game_of_two_takes_at_most_600_bytes():
    sizes = [len(replays.pack(replay("yucata", 2))) for _ in range(20)]

    assert statistics.mean(sizes) <= 600


@pytest.mark.parametrize(
    "moves",
    [
        [{"seat": 0, "actions": ["block b2", "end 1,2"], "ms": 3.0}],
        [{"seat": 1, "actions": ["move a1 b2"], "auto": True}],
        [{"seat": 0, "actions": [], "ms": 0.0}],
        [{"seat": 0, "actions": ["Block;b2", "extend"], "ms": 0.04}],
        [{"ms": 1, "seat": 10, "actions": "end"}],
        [],
    ],
)
def test_moves_of_any_shape_are_unpacked(moves):
    document = {"moves": moves, "note": "ä\0"}

    assert replays.unpack(replays.pack(document)) == as_json(document)


def test_threads_do_not_corrupt_each_others_replays():
    documents = [replay("yucata", 2) for _ in range(8)]

    with ThreadPoolExecutor(8) as threads:
        stored = list(threads.map(replays.pack, documents * 50))
        texts = list(threads.map(replays.unpack, stored))

    assert texts == [as_json(document) for document in documents] * 50


def test_replays_without_a_dictionary_are_readable():
    document = replay("yucata", 2)
    stored = zstandard.ZstdCompressor(level=12).compress(as_json(document))

    assert replays.unpack(stored) == as_json(document)


def test_a_replay_of_a_newer_version_says_what_to_do():
    data = (replays.FOLDER / "replays-1.zdict").read_bytes()
    future = data[:4] + (99).to_bytes(4, "little") + data[8:]
    packer = zstandard.ZstdCompressor(dict_data=zstandard.ZstdCompressionDict(future))

    with pytest.raises(replays.UnknownDictionary, match="Update this software"):
        replays.unpack(packer.compress(b"{}"))
