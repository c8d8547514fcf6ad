"""The words for how a seat and a game end: part of replays and of the bot protocol.

The members are strings: in JSON each of them is its word.
"""

from enum import StrEnum


class Fault(StrEnum):
    """Why a seat forfeits (docs/contract.md, section 8)."""

    PROTOCOL = "protocol"  # an answer of the wrong shape
    ILLEGAL_ACTION = "illegal_action"
    TIMEOUT = "timeout"  # the time for the start, or the bank, is used up
    CRASH = "crash"  # the bot exited, or closed its stdout
    MEMORY = "memory"  # more memory than its limit
    OUTPUT = "output"  # a line, or the whole output, is too long


class EndReason(StrEnum):
    """Why a game ended (docs/contract.md, section 7)."""

    COMPLETED = "completed"  # the last phase was scored
    LAST_STANDING = "last_standing"  # all other seats forfeited
