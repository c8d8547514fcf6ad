"""The figures and sentences of a version test, for `torres compare`, API and pages."""

from torres.common.json_object import JsonObject
from torres.rating.version_test import VersionTest, VersionVerdict

CERTAIN = 1e6
"""An e-value above it is shown as this."""
SENTENCES = {
    VersionVerdict.BETTER: "{new} is better than {old}.",
    VersionVerdict.NO_DIFFERENCE: (
        "No difference: {new} is not better than {old} by {high:g} nElo."
    ),
    VersionVerdict.WORSE: "{new} is worse than {old}.",
    VersionVerdict.UNDECIDED: "Undecided: more blocks are needed.",
}


def verdict_sentence(test: VersionTest, new: str, old: str) -> str:
    """Return the verdict as a sentence with the names of the versions."""
    return SENTENCES[test.verdict].format(new=new, old=old, high=test.test.nelo1)


def odds_text(e_value: float) -> str:
    """Return an e-value as text, with a limit that is easy to read."""
    return f"over {CERTAIN:,.0f}" if e_value > CERTAIN else f"{e_value:.3g}"


def expected_games_left(test: VersionTest) -> float:
    """Return the expected number of games until the test stops, at the likely effect.

    A test that is longer than expected is like one that begins now.
    """
    bounds = test.test
    played = bounds.games_per_block * test.blocks
    if test.blocks < bounds.min_blocks:
        return bounds.worst_expected_games - played
    whole = bounds.expected_games(test.effect().nelo)
    return whole - played if whole > played else whole


def version_figures(test: VersionTest) -> JsonObject:
    """Return the figures of a test as JSON, for `torres compare` and the REST API.

    ``effect``, ``e_value`` and ``interval_at_all_times`` are null without any block.
    """
    bounds = test.test
    effect = test.effect() if test.blocks else None
    evidence = test.evidence() if test.blocks else None
    return {
        "verdict": test.verdict,
        "blocks": test.blocks,
        "games": bounds.games_per_block * test.blocks,
        "llr": test.llr,
        "llr_bounds": [bounds.lower, bounds.upper],
        "bounds": [bounds.nelo0, bounds.nelo1],
        "expected_games": {
            "low": bounds.expected_games(bounds.nelo0),
            "worst": bounds.worst_expected_games,
            "high": bounds.expected_games(bounds.nelo1),
        },
        "effect": effect
        and {
            "score": effect.score,
            "interval": [effect.low, effect.high],
            "nelo": effect.nelo,
        },
        "e_value": evidence and {"better": evidence.better, "worse": evidence.worse},
        "interval_at_all_times": evidence and [evidence.low, evidence.high],
    }
