"""A plugin of pytest: let Hypothesis stop at the first example that fails.

To search for a smaller one takes longer than all the tests. Examples are the same in
each run, and their time does not count.
"""

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "mutants",
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("mutants")
