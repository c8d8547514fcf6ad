"""Pairs of owners whose uploads share code or files.

A search among n uploads compares no n² pairs: hashes that two owners share lead to
them. A hash that many owners share is common knowledge and leads to no pair.

Arrays and numbers only: no bots, no database. An upload is an index from 0.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from torres.rating.anomalies.source_sketch import (
    Hashes,
    SketchOverlap,
    SourceSketch,
    overlap,
)
from torres.rating.plackett_luce import Integers

MAX_OWNERS = 10
"""A hash that more owners share is common, as in MOSS."""
MIN_SHARE = 0.3
"""Unrelated programs share less than this of their runs of tokens."""
MIN_SHARED = 25
"""With fewer common hashes a share is not reported."""
MAX_CANDIDATES = 1000
"""Pairs of owners that are compared upload by upload, those with most in common."""
PARTS = 16
MAX_UPLOADS_EACH = 8
"""Uploads of one owner that are compared with those of another one."""


@dataclass(frozen=True, slots=True)
class FingerprintedUpload:
    """An upload: its owner, its sketch, and the digests of its files."""

    owner: int
    sketch: SourceSketch
    files: frozenset[str]


@dataclass(frozen=True, slots=True)
class CopyFinding:
    """The two uploads of two owners that have most in common. `first` was there first.

    `files` are the digests of equal files.
    """

    first: int
    second: int
    overlap: SketchOverlap
    files: frozenset[str]

    @property
    def is_similar(self) -> bool:
        return self.overlap.share >= MIN_SHARE and self.overlap.shared >= MIN_SHARED


def find_copies(
    uploads: Sequence[FingerprintedUpload],
    ignored: Hashes,
    common_files: frozenset[str],
) -> list[CopyFinding]:
    """Return the pairs of owners with similar code or equal files, the closest first.

    The uploads are in the order in which they came. `ignored` and `common_files` are
    the hashes and digests of what everybody may copy.

    1. Count for each pair of owners the hashes that they share.
    2. Compare the uploads of the pairs with the most, and keep the closest two.
    3. Add the pairs of owners with equal files.
    """
    uploads = [_without(upload, ignored, common_files) for upload in uploads]
    owners = np.array([upload.owner for upload in uploads], dtype=np.int64)
    by_owner: dict[int, list[int]] = defaultdict(list)
    for index, owner in enumerate(owners.tolist()):
        by_owner[owner].append(index)
    equal = _equal_files(uploads)
    pairs = {*_candidates(uploads, owners), *equal}
    found = []
    for one, other in sorted(pairs):
        files = equal.get((one, other), frozenset())
        finding = _closest(uploads, by_owner[one], by_owner[other], files)
        if finding.is_similar or finding.files:
            found.append(finding)
    return sorted(found, key=lambda each: (-len(each.files), -each.overlap.share))


def _without(
    upload: FingerprintedUpload, ignored: Hashes, common_files: frozenset[str]
) -> FingerprintedUpload:
    """Return an upload without what everybody may copy."""
    sketch = upload.sketch.without(ignored)
    return FingerprintedUpload(upload.owner, sketch, upload.files - common_files)


def _equal_files(
    uploads: Sequence[FingerprintedUpload],
) -> dict[tuple[int, int], frozenset[str]]:
    """Return the equal files of the pairs of owners with the most equal files."""
    owners_of: dict[str, set[int]] = defaultdict(set)
    for upload in uploads:
        for digest in upload.files:
            owners_of[digest].add(upload.owner)
    equal: dict[tuple[int, int], frozenset[str]] = {}
    for digest, owners in owners_of.items():
        if len(owners) <= MAX_OWNERS:
            for pair in combinations(sorted(owners), 2):
                equal[pair] = equal.get(pair, frozenset()) | {digest}
    most = sorted(equal, key=lambda pair: (-len(equal[pair]), pair))[:MAX_CANDIDATES]
    return {pair: equal[pair] for pair in most}


def _candidates(
    uploads: Sequence[FingerprintedUpload], owners: Integers
) -> list[tuple[int, int]]:
    """Return the pairs of owners that share many hashes, those with the most first."""
    keys = np.zeros(0, dtype=np.int64)
    counts = np.zeros(0, dtype=np.int64)
    count = int(owners.max(initial=0)) + 1
    for hashes, owner in _hashes_by_owner(uploads, owners):
        pairs = np.concatenate(list(_sharing_pairs(hashes, owner, count)))
        keys, place = np.unique(np.concatenate([keys, pairs]), return_inverse=True)
        weights = np.concatenate([counts, np.ones(len(pairs), dtype=np.int64)])
        counts = np.bincount(place, weights, minlength=len(keys)).astype(np.int64)
    order = np.argsort(-counts, kind="stable")[:MAX_CANDIDATES]
    best = order[counts[order] >= MIN_SHARED]
    return [divmod(int(key), count) for key in keys[best]]


def _sharing_pairs(hashes: Hashes, owner: Integers, count: int) -> Iterator[Integers]:
    """Yield keys of two owners, each as often as the two share a hash."""
    starts = np.flatnonzero(np.concatenate([[True], hashes[1:] != hashes[:-1]]))
    sizes = np.diff(np.append(starts, len(hashes)))
    for size in range(2, MAX_OWNERS + 1):
        begins = starts[sizes == size]
        for i, j in combinations(range(size), 2):
            yield owner[begins + i] * count + owner[begins + j]


def _hashes_by_owner(
    uploads: Sequence[FingerprintedUpload], owners: Integers
) -> Iterator[tuple[Hashes, Integers]]:
    """Yield each hash of each owner once, in the order of the hashes and owners.

    They come in PARTS parts, so that less memory is needed.
    """
    if not uploads:
        return
    lengths = [len(upload.sketch.hashes) for upload in uploads]
    all_hashes = np.concatenate([upload.sketch.hashes for upload in uploads])
    all_owners = np.repeat(owners, lengths)
    for part in range(PARTS):
        chosen = all_hashes % np.uint64(PARTS) == part
        hashes, owner = all_hashes[chosen], all_owners[chosen]
        order = np.lexsort((owner, hashes))
        hashes, owner = hashes[order], owner[order]
        new = np.ones(len(hashes), dtype=bool)
        new[1:] = (hashes[1:] != hashes[:-1]) | (owner[1:] != owner[:-1])
        yield hashes[new], owner[new]


def _closest(
    uploads: Sequence[FingerprintedUpload],
    one: Sequence[int],
    other: Sequence[int],
    files: frozenset[str],
) -> CopyFinding:
    """Return the two uploads of two owners that have most in common."""
    mine = _likely(uploads, one, other, files)
    theirs = _likely(uploads, other, one, files)
    pairs = [
        _compare(uploads, min(pair), max(pair), files) for pair in product(mine, theirs)
    ]
    return max(pairs, key=_closeness)


def _compare(
    uploads: Sequence[FingerprintedUpload],
    first: int,
    second: int,
    files: frozenset[str],
) -> CopyFinding:
    shared = overlap(uploads[first].sketch, uploads[second].sketch)
    equal = uploads[first].files & uploads[second].files & files
    return CopyFinding(first, second, shared, equal)


def _closeness(finding: CopyFinding) -> tuple[bool, int, float]:
    return finding.is_similar, len(finding.files), finding.overlap.share


def _likely(
    uploads: Sequence[FingerprintedUpload],
    own: Sequence[int],
    others: Sequence[int],
    files: frozenset[str],
) -> list[int]:
    """Return the uploads of an owner that share most with all uploads of the other."""
    if len(own) <= MAX_UPLOADS_EACH:
        return list(own)
    theirs = np.concatenate([uploads[index].sketch.hashes for index in others])

    def shared(index: int) -> tuple[int, int]:
        upload = uploads[index]
        return (
            len(upload.files & files),
            int(np.isin(upload.sketch.hashes, theirs).sum()),
        )

    return sorted(own, key=shared, reverse=True)[:MAX_UPLOADS_EACH]
