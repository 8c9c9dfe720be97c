"""How much hypothesis does: some hundred settings by default, thousands with RULESCORE_HYPOTHESIS=thorough."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# No deadline: a database opens for every example. Generating a setting is slow by hypothesis' measure.
common = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])

settings.register_profile("quick", common, max_examples=10)
settings.register_profile("thorough", common, max_examples=2000)
settings.load_profile(os.environ.get("RULESCORE_HYPOTHESIS", "quick"))
