"""The words by which users name formats of rule files and kinds of rules. Loads nothing, as the command line names them at once."""

from __future__ import annotations

from enum import StrEnum


class FormatName(StrEnum):
    """The names by which users choose a format; the first is our own language."""

    RULESCORE = "rulescore"
    AMIE = "amie"
    ANYBURL = "anyburl"
    DESBORDANTE = "desbordante"
    HOLOCLEAN = "holoclean"
    MLN = "mln"
    NCRL = "ncrl"
    NEURAL_LP = "neural-lp"
    PROLOG = "prolog"
    PSL = "psl"
    RNNLOGIC = "rnnlogic"
    UNIKER = "uniker"


class WeighBy(StrEnum):
    """The figure that a tool states of a rule and that becomes its weight in scores."""

    CONFIDENCE = "confidence"
    WEIGHT = "weight"


class Kind(StrEnum):
    """Hard rules must never be broken, soft ones seldom."""

    HARD = "hard"
    SOFT = "soft"
