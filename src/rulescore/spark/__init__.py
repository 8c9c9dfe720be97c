"""Spark: on one machine, on a cluster, or behind Spark Connect."""

from __future__ import annotations

from importlib.util import find_spec

from rulescore.engines.base import Engine
from rulescore.errors import MissingExtraError
from rulescore.setting.options import EngineOptions


def open_engine(options: EngineOptions) -> Engine:
    if find_spec("pyspark") is None:
        raise MissingExtraError("Spark", "spark")
    from rulescore.spark.engine import SparkEngine

    return SparkEngine(options)
