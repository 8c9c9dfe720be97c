"""The names of our tables and of their columns."""

from __future__ import annotations

PREFIX = "__rulescore__"
_ANSWERS = f"{PREFIX}answers_"


def name(stem: str) -> str:
    return PREFIX + stem


def fact_table(arity: int) -> str:
    return name(f"fact_{arity}")


def prediction_table(arity: int) -> str:
    return name(f"candidate_{arity}")


def tuple_table(arity: int) -> str:
    return name(f"tuple_{arity}")


def answers_table(number_of: int) -> str:
    """The table of a registered predicate's answers."""
    return f"{_ANSWERS}{number_of}"


def is_answers_table(table_name: str) -> bool:
    return table_name.startswith(_ANSWERS)


def argument(index: int) -> str:
    return f"a{index}"


def arguments(arity: int) -> list[str]:
    return [argument(i) for i in range(arity)]
