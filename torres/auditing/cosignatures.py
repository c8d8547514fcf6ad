"""Compare the cosignatures that a service shows with the log and its witnesses."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta

from torres.auditing.findings import AuditFinding, Check
from torres.auditing.logged import Batch, LoggedGame, Plan, Story
from torres.auditing.mirror import Fetch, LogCopy, compare_with_witness, fetch_text
from torres.tlog.checkpoints import parse_head
from torres.tlog.notes import BadNote, SignedNote, VerifierKey, parse_note

COSIGNATURES = "cosignatures"
GRACE = timedelta(hours=1)
"""A witness has this time to begin, and to cosign what is new."""
MAX_NOTES = 64


@dataclass(slots=True)
class Quorum:
    """The witnesses that a log names, and what is demanded of them.

    `cosigned` has the size of the tree that each witness has cosigned, by its name. A
    cosignature is `due` if its tree has all leaves that are older than GRACE.
    """

    named: list[str] = field(default_factory=list)
    cosigned: dict[str, int] = field(default_factory=dict)
    due: int = 0
    demanded: int = 0

    @property
    def fresh(self) -> int:
        """Return how many witnesses have cosigned the first `due` leaves."""
        return sum(size >= self.due for size in self.cosigned.values())

    def finding(self) -> AuditFinding | None:
        """Return what to say if there are fewer cosignatures than demanded."""
        if self.fresh >= self.demanded:
            return None
        late = [name for name in self.named if self.cosigned.get(name, -1) < self.due]
        missing = f"; missing: {', '.join(late)}" if late else ""
        text = (
            f"{self.fresh} witnesses have cosigned the first {self.due} leaves, and"
            f" {self.demanded} are demanded{missing}"
        )
        return AuditFinding(Check.WITNESSES, text)


def shown_notes(fetch: Fetch) -> list[SignedNote]:
    """Return the cosigned checkpoints that a service shows. Raises AuditFailed.

    Read them before the log is copied, so that the copy has all that was cosigned.
    Raises BadNote if the text is not a list of checkpoints.
    """
    parts = fetch_text(fetch, COSIGNATURES).split("\n\n", 2 * MAX_NOTES)
    if parts == [""]:
        return []
    if len(parts) % 2 or len(parts) > 2 * MAX_NOTES:
        raise BadNote(f"they are not at most {MAX_NOTES} signed checkpoints")
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return [parse_note(f"{body}\n\n{below.rstrip()}\n") for body, below in pairs]


def check_cosignatures(
    notes: list[SignedNote], copy: LogCopy, story: Story, demanded: int | None
) -> tuple[Quorum, list[AuditFinding]]:
    """Verify the cosignatures of the witnesses that the newest batch of decks names.

    By default all of them are demanded that the log has named for longer than GRACE.
    """
    keys = _newest(list(story.batches.values()))
    quorum = Quorum([key.name for key in keys])
    findings: list[AuditFinding] = []
    for key in keys:
        for note in _own_notes(notes, key.name, copy):
            found = list(compare_with_witness(copy, str(note), key))
            findings += found
            if not found:
                quorum.cosigned[key.name] = parse_head(note).size
    before = story.end - GRACE
    old = _newest([batch for batch in story.batches.values() if batch.time <= before])
    quorum.demanded = len({*keys} & {*old}) if demanded is None else demanded
    timed: list[Batch | Plan | LoggedGame] = [
        *story.batches.values(),
        *story.plans.values(),
        *story.games.values(),
    ]
    quorum.due = 1 + max((row.leaf for row in timed if row.time <= before), default=-1)
    if missing := quorum.finding():
        findings.append(missing)
    return quorum, findings


def _newest(batches: list[Batch]) -> list[VerifierKey]:
    """Return the keys of the witnesses that the newest batch names."""
    return list(max(batches, key=lambda batch: batch.leaf).witnesses) if batches else []


def _own_notes(
    notes: list[SignedNote], name: str, copy: LogCopy
) -> Iterator[SignedNote]:
    """Yield the checkpoints of this log that a witness is said to have cosigned.

    A log that was restored has another name, and older cosignatures do not count.
    """
    for note in notes:
        is_ours = note.text.startswith(f"{copy.head.origin}\n")
        if is_ours and any(line.name == name for line in note.signatures):
            yield note
