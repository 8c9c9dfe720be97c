"""Results as charts, drawn with Altair. No other part of the package imports Altair."""

from rulescore.errors import MissingExtraError

try:
    import altair  # noqa: F401
    import vl_convert  # noqa: F401
except ImportError as error:
    raise MissingExtraError("a figure", "plots") from error
