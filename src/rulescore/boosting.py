"""For boosted trees: an objective for LightGBM and XGBoost."""

from rulescore.integrations.boosting import objective

__all__ = ["objective"]
