"""The ten published editions as presets of switches.

An edition is data only. `rulesets` defines the switches and resolves a preset for a
number of seats.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Stacks = tuple[tuple[int, ...], ...]
"""Sizes of the stacks, phase by phase."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One edition: its name for people, an explanation, its source, and its switches.

    `by_seats` has the switches that differ for a number of seats.
    """

    name: str
    explanation: str
    source: str
    switches: Mapping[str, object]
    by_seats: Mapping[int, Mapping[str, object]]


# Rules 22 and 24. The same in every edition.
PHASE_CARDS: Mapping[int, Stacks] = MappingProxyType(
    {
        2: ((3, 3, 3, 3), (3, 3, 3, 3), (3, 3, 3, 3)),
        3: ((3, 3, 2, 2), (3, 3, 2), (3, 3, 2)),
        4: ((2, 2, 2, 2), (2, 2, 2), (2, 2, 2)),
    }
)

_BASE: Mapping[str, object] = {
    "start_blocks": "marked",
    "start_player": "seat0",
    "card_access": "own_deck",
    "buy_draw": 3,
    "max_buys": 2,
    "stack_choice": "free",
    "max_blocks_per_turn": 3,
    "stack_limit": 3,
    "leftover_distribution": "player",
    "leftover_at_phase_end": "return",
    "next_start": "lowest",
    "order": "fixed",
    "master_card": False,
    "master_all_six": True,
    "row_contiguous": False,
    "tilted_squares": False,
}
_MASTER: Mapping[str, object] = {
    "start_blocks": "placed",
    "card_access": "full_hand",
    "max_buys": 0,
    "next_start": "lowest",
    "order": "leader",
    "master_card": True,
}
_SECOND_EDITION: Mapping[str, object] = {
    "max_blocks_per_turn": None,
    "stack_limit": None,
    "leftover_at_phase_end": "keep",
}
_YUCATA: Mapping[str, object] = {
    **_SECOND_EDITION,
    "start_player": "random",
    "stack_choice": "largest",
    "leftover_distribution": "auto",
}
_DEVIR: Mapping[str, object] = {
    "leftover_at_phase_end": "keep",
    "next_start": "lowest_chooses",
}


def _preset(
    name: str,
    explanation: str,
    source: str,
    *layers: Mapping[str, object],
    by_seats: Mapping[int, Mapping[str, object]] | None = None,
) -> Preset:
    switches: dict[str, object] = dict(_BASE)
    for layer in layers:
        switches.update(layer)
    return Preset(
        name,
        explanation,
        source,
        MappingProxyType(switches),
        MappingProxyType(by_seats or {}),
    )


_YUCATA_BY_SEATS: Mapping[int, Mapping[str, object]] = {2: {"stack_limit": 3}}

PRESETS: Mapping[str, Preset] = MappingProxyType(
    {
        "yucata": _preset(
            "Yucata",
            "The second edition as Yucata plays it. A random player starts. Everybody "
            "has a deck of ten cards; a purchase draws three and keeps one. The turn's "
            "stack is always the largest. Its unused blocks go automatically on the "
            "next one, without a limit with three or four players, up to three with "
            "two. Blocks left at the end of a phase are kept.",
            "Yucata.de, rule page of Torres (second edition, 2005)",
            _YUCATA,
            by_seats=_YUCATA_BY_SEATS,
        ),
        "yucata-open-hand": _preset(
            "Yucata, open hands",
            "Yucata with its table option 'full hand': everybody holds all ten cards "
            "from the start, and there is nothing to buy.",
            "Yucata.de, rule page of Torres, table option",
            _YUCATA,
            {"card_access": "full_hand", "max_buys": 0},
            by_seats=_YUCATA_BY_SEATS,
        ),
        "rio-grande-1999": _preset(
            "Rio Grande 1999",
            "The first edition. All forty cards are one deck, and a purchase takes its "
            "top card. The player chooses each turn's stack, builds at most three "
            "blocks, and puts unused ones on other stacks up to three; blocks left at "
            "the end of a phase return to the supply.",
            "Rio Grande Games, 1999; first-edition facts from German short rules",
            {"card_access": "shared_deck", "buy_draw": 1},
        ),
        "rio-grande-1999-master": _preset(
            "Rio Grande 1999, master version",
            "The first edition's master version. The players place the start castles, "
            "hold all ten cards, and one open master card gives everybody the same "
            "extra task. Before each round the leader becomes the starting player.",
            "Rio Grande Games, 1999, master version",
            _MASTER,
            {"buy_draw": 1},
        ),
        "rio-grande-own-decks": _preset(
            "Rio Grande, own decks",
            "A later printing of the first edition: everybody has a deck of ten cards, "
            "a purchase draws three and keeps one. Stacks as in 1999.",
            "Rio Grande Games, later printing",
        ),
        "torres-3d": _preset(
            "Torres 3D",
            "The computer game's summary of the master version. As in 1999, but in "
            "each round the players take turns from the highest score to the lowest.",
            "Torres 3D, rule summary",
            _MASTER,
            {"buy_draw": 1, "order": "descending"},
        ),
        "devir-2017": _preset(
            "Devir 2017",
            "The third edition. Own decks, free choice of stacks. Blocks left at the "
            "end of a phase are kept and go on the next phase's stacks, up to three. "
            "The player with the lowest score moves the king and names who starts.",
            "Devir / HUCH!, 2017",
            _DEVIR,
        ),
        "devir-2017-shared-deck": _preset(
            "Devir 2017, shared deck",
            "The third edition's variant with one deck of forty cards for all; a "
            "purchase draws three of it and keeps one.",
            "Devir / HUCH!, 2017, variant",
            _DEVIR,
            {"card_access": "shared_deck"},
        ),
        "devir-2017-master": _preset(
            "Devir 2017, master version",
            "The third edition's master version: placed start castles, all ten cards "
            "in hand, a master card, and in each round the leader starts.",
            "Devir / HUCH!, 2017, master version",
            _DEVIR,
            _MASTER,
        ),
        "rio-grande-2005": _preset(
            "Rio Grande 2005",
            "The second edition as it is printed. Everybody has a deck of ten cards; a "
            "purchase draws three and keeps one. The player chooses each turn's stack "
            "and puts its unused blocks on other stacks, of any height. Blocks left at "
            "the end of a phase are kept. The player with the lowest score moves the "
            "king and starts.",
            "Rio Grande Games, 2005 (second edition), as the rule page of Yucata.de "
            "quotes it",
            _SECOND_EDITION,
        ),
    }
)
DEFAULT = "yucata"
