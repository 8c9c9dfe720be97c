"""Work for other processes, which import this module, that ends in each kind of error."""

from __future__ import annotations

import rulescore


def fails_on_rules() -> None:
    rulescore.score([("a", "p", "b")], None, "p(X, Z) <- p(X, Y).\nq(X.")


def fails_on_data() -> None:
    rulescore.score([("a", "p")], None, "p(X, Y) <- p(Y, X).")


def fails_in_the_engine() -> None:
    statement = "SELECT NULL AS prediction, a.a0 = b.a0 AS confirmed, error('no') AS refuted FROM observed_p a, observed_p b"
    rulescore.audit([("a", "p", "b")], "", sql_rules=[rulescore.SqlRule("failing", statement)])


def fails_to_connect() -> None:
    rulescore.audit([("a", "p", "b")], "p(X, Y) <- p(Y, X).", engine="postgresql://me:pw@127.0.0.1:1/x")


TASKS = (fails_on_rules, fails_on_data, fails_in_the_engine, fails_to_connect)
