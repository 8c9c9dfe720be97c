"""How much hypothesis does: some hundred settings by default, thousands with RULESCORE_HYPOTHESIS=thorough."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

# No deadline: a database opens for every example. Generating a setting is slow by hypothesis' measure.
common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

# Shrinking a setting takes minutes; without it a failure shows at once, and the thorough profile shrinks it.
without_shrinking = (Phase.explicit, Phase.generate)

# Always the same examples, so that a run says something of the change at hand; tests/hunt.py looks for new ones.
settings.register_profile("quick", common, max_examples=10, phases=without_shrinking, derandomize=True, database=None)
settings.register_profile("thorough", common, max_examples=2000)
settings.load_profile(os.environ.get("RULESCORE_HYPOTHESIS", "quick"))
