"""Half as many generated settings, for what the oracle decides in other tests as well. The thorough profile makes a thousand."""

from __future__ import annotations

from hypothesis import settings

FEW = settings(max_examples=(settings().max_examples + 1) // 2)
