"""A plugin of pytest: let Hypothesis stop at the first example that fails.

To search for a smaller one takes longer than all the tests.
"""

from hypothesis import Phase, settings

settings.register_profile(
    "mutants",
    derandomize=True,
    database=None,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("mutants")
