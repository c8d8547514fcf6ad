"""Copies of programs: what is found in spite of a disguise, and what is not a copy."""

import inspect
import statistics
import time
from importlib import import_module

import numpy as np
import pytest

from tests.anomalies.disguise import ORIGINAL, disguised
from torres.rating.anomalies.copies import MIN_SHARE, FingerprintedUpload, find_copies
from torres.rating.anomalies.source_sketch import (
    SKETCH_SIZE,
    SourceSketch,
    overlap,
    run_hashes,
    sketch,
)

NOTHING = np.zeros(0, dtype=np.uint64)
UNRELATED = ("heapq", "difflib", "fractions", "argparse", "csv", "ast", "copy", "shlex")
C_PROGRAM = """
#include <stdio.h>
/* Adds numbers. */
static int total(const int *values, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++) { if (values[i] > 7) sum += values[i] * 3; }
    return sum; // done
}
static int best(const int *values, int count) {
    int top = values[0];
    while (count-- > 1) { if (values[count] > top) { top = values[count]; } }
    return top;
}
"""
C_COPY = """
// Nothing to see here.
static int m(const int *v,int n){int t=v[0];while(n-->1){if(v[n]>t){t=v[n];}}return t;}
static int s(const int *w, int n)
{
    int r = 0;
    for (int k = 0; k < n; k++)
    {
        if (w[k] > 9) r += w[k] * 5;
    }
    return r;
}
"""


def sketch_of(source: str, suffix: str = ".py") -> SourceSketch:
    return sketch([run_hashes(source, suffix)], NOTHING)


def upload(owner: int, source: str, files: frozenset[str] = frozenset()):
    return FingerprintedUpload(owner, sketch_of(source), files)


@pytest.mark.parametrize("module", ["textwrap", "heapq", "statistics", "fractions"])
def test_a_disguised_copy_is_found(module):
    source = inspect.getsource(import_module(module))

    shared = overlap(sketch_of(source), sketch_of(disguised(source)))

    assert shared.share >= MIN_SHARE
    assert shared.shared >= 100


def test_programs_of_different_people_share_little():
    sketches = [sketch_of(inspect.getsource(import_module(name))) for name in UNRELATED]
    shares = [
        overlap(one, other).share
        for k, one in enumerate(sketches)
        for other in sketches[:k]
    ]

    assert max(shares) < MIN_SHARE / 3


def test_other_names_comments_layout_and_numbers_change_nothing():
    one, other = sketch_of(C_PROGRAM, ".c"), sketch_of(C_COPY, ".c")

    assert overlap(one, other).share > 0.6


def test_a_program_inside_a_larger_one_is_found():
    larger = inspect.getsource(statistics) + disguised(ORIGINAL)

    shared = overlap(sketch_of(ORIGINAL), sketch_of(larger))

    assert shared.share >= MIN_SHARE


def test_what_everybody_may_copy_is_ignored():
    kit = run_hashes(ORIGINAL, ".py")
    own = inspect.getsource(statistics)
    uploads = [upload(1, ORIGINAL), upload(2, ORIGINAL + own), upload(3, own)]

    found = find_copies(uploads, kit, frozenset())

    assert [(each.first, each.second) for each in found] == [(1, 2)]


def test_the_closest_uploads_of_two_owners_are_named():
    other = inspect.getsource(statistics)
    uploads = [
        *(upload(1, f"{other}\nx = {k}") for k in range(12)),
        upload(1, ORIGINAL),
        upload(2, inspect.getsource(import_module("heapq"))),
        upload(2, disguised(ORIGINAL)),
        upload(3, inspect.getsource(import_module("difflib"))),
    ]

    found = find_copies(uploads, NOTHING, frozenset())

    assert [(each.first, each.second) for each in found] == [(12, 14)]
    assert found[0].is_similar


def test_equal_files_are_found_whatever_they_hold():
    uploads = [
        upload(1, "", frozenset({"model", "licence"})),
        upload(2, "", frozenset({"model", "licence"})),
        upload(2, "", frozenset({"own"})),
    ]

    found = find_copies(uploads, NOTHING, frozenset({"licence"}))

    assert [(each.first, each.second, each.files) for each in found] == [
        (0, 1, frozenset({"model"}))
    ]
    assert not found[0].is_similar


def test_what_many_owners_share_is_common():
    uploads = [upload(owner, ORIGINAL, frozenset({"file"})) for owner in range(11)]

    assert not find_copies(uploads, NOTHING, frozenset())
    assert len(find_copies(uploads[:3], NOTHING, frozenset())) == 3
    assert not find_copies([], NOTHING, frozenset())


def test_a_sketch_is_small_and_tells_where_it_is_complete():
    small, large = sketch_of(C_PROGRAM, ".c"), sketch_of(inspect.getsource(statistics))

    assert small.total == len(small.hashes) < SKETCH_SIZE < large.total
    assert len(large.hashes) == SKETCH_SIZE
    assert large.limit == large.hashes[-1]
    assert small.limit == np.iinfo(np.uint64).max


@pytest.mark.parametrize("suffix", [".py", ".c"])
@pytest.mark.parametrize(
    "piece",
    ['"\\', '"""', "'", "/*", "`\\", "#", "a", "1.", '"\\"', "x\n'", "é", "\r\n"],
)
def test_the_time_for_hostile_sources_is_linear(piece, suffix):
    """A source of 400,000 characters takes less than 3 s; a square would not."""
    source = piece * (400_000 // len(piece))
    began = time.process_time()

    run_hashes(source, suffix)

    assert time.process_time() - began < 3


def test_ten_thousand_uploads_are_compared_in_seconds():
    """2,000 owners have five versions each; one owner has code of another one."""
    rng = np.random.default_rng(1)
    idioms = rng.integers(0, 2**63, 200_000, dtype=np.uint64)
    own = rng.integers(0, 2**63, (2000, 900), dtype=np.uint64)
    uploads = []
    for number in range(10_000):
        owner = number // 5
        code = own[3, :700] if number == 7777 else rng.permutation(own[owner])[:800]
        hashes = np.concatenate([code, rng.choice(idioms, 300)])
        uploads.append(
            FingerprintedUpload(owner, sketch([hashes], NOTHING), frozenset())
        )
    began = time.process_time()

    found = find_copies(uploads, NOTHING, frozenset())

    assert time.process_time() - began < 20
    assert [each.second for each in found] == [7777]
    assert uploads[found[0].first].owner == 3
