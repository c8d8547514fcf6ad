"""Search the fingerprints of a season's bots for copies among different owners."""

import numpy as np

from ladder.bots.models import SourceFingerprint
from ladder.extras.anomalies.findings import AnomalyFinding, FindingKind
from ladder.extras.anomalies.fingerprints import METHOD, PublicCode
from torres.rating.anomalies.copies import CopyFinding, FingerprintedUpload, find_copies
from torres.rating.anomalies.source_sketch import SourceSketch

MAX_UPLOADS = 20_000
"""Of more uploads the newest ones are compared."""
MAX_FINDINGS = 100
"""If more are found, the others are counted only."""
MAX_PATHS = 10


def copies_among(
    bots: list[int], public: PublicCode, tested: dict[str, object]
) -> list[AnomalyFinding]:
    """Return the copies among these bots; note in `tested` how many uploads there are.

    The files of deleted accounts are gone, and their fingerprints with them.
    """
    rows = (
        SourceFingerprint.objects.filter(
            submission__bot__in=bots,
            submission__bot__owner__isnull=False,
            method=METHOD,
        )
        .select_related("submission__bot")
        .defer("submission__log", "submission__report")
        .order_by("-submission")[:MAX_UPLOADS]
    )
    fingerprints = sorted(rows, key=lambda row: row.submission_id)
    owner_ids = [row.submission.bot.owner_id for row in fingerprints]
    owners, index = np.unique(np.array(owner_ids, dtype=np.int64), return_inverse=True)
    uploads = [
        FingerprintedUpload(int(owner), _sketch(row), frozenset(row.files))
        for row, owner in zip(fingerprints, index, strict=True)
    ]
    tested["uploads"] = len(uploads)
    tested["owners"] = len(owners)
    found = find_copies(uploads, public.hashes, public.files)
    tested["copies"] = len(found)
    return [_finding(each, fingerprints) for each in found[:MAX_FINDINGS]]


def similar_bots(findings: list[AnomalyFinding]) -> list[tuple[int, int]]:
    """Return the pairs of bots whose code as a whole is similar."""
    return [
        (found.bots[0], found.bots[1]) for found in findings if found.form == "similar"
    ]


def _sketch(row: SourceFingerprint) -> SourceSketch:
    hashes = np.frombuffer(bytes(row.hashes), dtype="<u8").astype(np.uint64)
    return SourceSketch(hashes, row.total)


def _finding(found: CopyFinding, rows: list[SourceFingerprint]) -> AnomalyFinding:
    pair = [rows[found.first], rows[found.second]]
    paths = sorted(pair[1].files[digest] for digest in found.files)
    return AnomalyFinding(
        FindingKind.COPIES,
        "similar" if found.is_similar else "equal files",
        bots=[row.submission.bot_id for row in pair],
        submissions=[row.submission_id for row in pair],
        owners=[row.submission.bot.owner_id or 0 for row in pair],
        numbers={
            "share": found.overlap.share,
            "shared": found.overlap.shared,
            "of": found.overlap.of,
            "files": len(found.files),
        },
        paths=paths[:MAX_PATHS],
    )
