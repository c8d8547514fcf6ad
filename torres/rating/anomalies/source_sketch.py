"""Fingerprints of source code that survive new names, comments and another order.

A source file becomes a list of tokens without comments and white space, in which all
names are the same, all numbers and all texts. Each run of RUN_TOKENS tokens has a hash.
The *sketch* of a submission is its SKETCH_SIZE least hashes (Broder, On the resemblance
and containment of documents, 1997). So its size is bounded, and two sketches tell which
share of the smaller program is in the larger one. Runs of tokens instead of whole files
are the idea of MOSS (Schleimer, Wilkerson & Aiken, Winnowing, 2003).

Texts and arrays only: no bots, no database. Every source is hostile: the time grows
linearly with the size, whatever it holds.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

RUN_TOKENS = 12
SKETCH_SIZE = 512
MIN_SHARED = 12
"""With fewer common hashes the estimate of a share says nothing."""

Hashes = NDArray[np.uint64]

HASH_COMMENTS = frozenset({".py", ".pl", ".pm", ".rb", ".sh", ".lua", ".jl", ".r", ""})
_SLASH_SUFFIXES = (
    ".c .h .cc .cpp .cxx .hpp .hh .rs .go .java .kt .cs .js .mjs .cjs .ts .swift .zig"
    " .d"
)
SLASH_COMMENTS = frozenset(_SLASH_SUFFIXES.split())

# Every alternative that begins also ends, if need be at the end of the line or text, so
# that no text is read twice. Brackets, commas and prefixes of texts do not count: tools
# that write a program anew change them.
_TEXTS = r"\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?|`(?:[^`\\]|\\[\s\S])*`?"
_TOKENS = rf"(?P<text>{_TEXTS})|(?P<word>[A-Za-z_$]\w*|\d[\w.]*)|(?P<sign>\S)"
_LONG_TEXTS = r"\"{3}[\s\S]*?(?:\"{3}|\Z)|'{3}[\s\S]*?(?:'{3}|\Z)"
_PREFIXES = r"\b[rbfuRBFU]{1,2}(?=[\"'])"
_HASH_TOKEN = re.compile(rf"(?P<skip>[(),;]|{_PREFIXES}|\#.*|{_LONG_TEXTS})|{_TOKENS}")
_SLASH_TOKEN = re.compile(rf"(?P<skip>[(),;]|//.*|/\*[\s\S]*?(?:\*/|\Z))|{_TOKENS}")
_KEYWORDS = (
    "and as assert async await auto bool break case catch char class const continue"
    " def default del delete do double elif else enum except export extends extern"
    " finally float fn for foreach from func function global goto if impl import in"
    " include int interface is lambda let long loop match mod mut my namespace new nil"
    " none nonlocal not null or package pass print private protected public pub raise"
    " range return self short static struct sub super switch template this throw throws"
    " trait true false try type typedef typename union unless unsafe until use using"
    " var void where while with yield"
)
KEYWORDS = frozenset(_KEYWORDS.split())


@dataclass(frozen=True, slots=True)
class SourceSketch:
    """The least hashes of a submission in ascending order, and how many there were."""

    hashes: Hashes
    total: int

    @property
    def limit(self) -> int:
        """Up to this hash the sketch holds all that there are."""
        if self.total <= len(self.hashes):
            return int(np.iinfo(np.uint64).max)
        return int(self.hashes[-1]) if len(self.hashes) else 0

    def without(self, ignored: Hashes) -> "SourceSketch":
        """Return the sketch without these hashes. It stays complete up to its limit."""
        own = self.hashes[~np.isin(self.hashes, ignored)]
        return SourceSketch(own, self.total - (len(self.hashes) - len(own)))


@dataclass(frozen=True, slots=True)
class SketchOverlap:
    """The estimated share of the smaller program that is in the larger one.

    `shared` and `of` are the hashes from which the share was estimated.
    """

    share: float
    shared: int
    of: int


def is_source(suffix: str) -> bool:
    """True if files with this suffix (with its dot, in small letters) are compared."""
    return suffix in HASH_COMMENTS or suffix in SLASH_COMMENTS


def run_hashes(source: str, suffix: str) -> Hashes:
    """Return the distinct hashes of all runs of tokens of one file."""
    tokens = np.array(_tokens(source, suffix), dtype=np.uint64)
    runs = len(tokens) - RUN_TOKENS + 1
    if runs < 1:
        return np.zeros(0, dtype=np.uint64)
    mixed = _mix(tokens)
    total = np.zeros(runs, dtype=np.uint64)
    for offset in range(RUN_TOKENS):
        total = total * np.uint64(0x100000001B3) + mixed[offset : offset + runs]
    return np.unique(_mix(total))


def sketch(hashes: Iterable[Hashes], ignored: Hashes) -> SourceSketch:
    """Return the sketch of the files with these hashes, without the ignored ones."""
    parts = [np.zeros(0, dtype=np.uint64), *hashes]
    own = np.setdiff1d(np.concatenate(parts), ignored)
    return SourceSketch(own[:SKETCH_SIZE], len(own))


def overlap(one: SourceSketch, other: SourceSketch) -> SketchOverlap:
    """Compare two sketches up to the hash at which both are complete."""
    limit = np.uint64(min(one.limit, other.limit))
    parts = [each.hashes[each.hashes <= limit] for each in (one, other)]
    shared = len(np.intersect1d(parts[0], parts[1], assume_unique=True))
    smaller = min(len(part) for part in parts)
    return SketchOverlap(shared / smaller if smaller else 0.0, shared, smaller)


def _tokens(source: str, suffix: str) -> list[int]:
    """Return the tokens as numbers. Names, numbers and texts have one number each."""
    pattern = _HASH_TOKEN if suffix in HASH_COMMENTS else _SLASH_TOKEN
    found = []
    for match in pattern.finditer(source):
        kind = match.lastgroup
        if kind == "word":
            word = match.group()
            if word[0].isdigit():
                found.append(1)
            elif word.lower() in KEYWORDS:
                found.append(crc32(word.lower().encode()))
            else:
                found.append(2)
        elif kind == "text" and found[-1:] != [3]:  # texts side by side are one
            found.append(3)
        elif kind == "sign":
            found.append(crc32(match.group().encode("utf-8", "surrogatepass")))
    return found


def _mix(values: Hashes) -> Hashes:
    """Return well mixed hashes (the finalizer of SplitMix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
