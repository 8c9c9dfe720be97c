"""For PyTorch: terms of losses, and accumulators of predictions."""

from rulescore.integrations.torch import TableRuleViolation, TripleRuleViolation
from rulescore.integrations.training import ExpectedViolations, NumericViolations

__all__ = ["ExpectedViolations", "NumericViolations", "TableRuleViolation", "TripleRuleViolation"]
