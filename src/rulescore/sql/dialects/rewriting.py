"""How a pass rewrites a statement. A pass may change the statement, which is a copy made for it."""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from rulescore.sql.words import Sql

Pass = Callable[[exp.Expr], exp.Expr]


def rewritten(statement: exp.Expr, rule: Callable[[exp.Expr], Sql | exp.Expr | None], *kinds: type[exp.Expr]) -> exp.Expr:
    """The statement with each node of some kinds replaced by the rule's result, innermost first; None leaves a node as it is."""
    for node in innermost_first(statement, *kinds):
        found = rule(node)
        if found is None:
            continue
        if isinstance(found, Sql):  # in which a node may stand at several places
            found = found.node.copy()
        if node is statement:
            return found
        node.replace(found)
    return statement


def innermost_first(statement: exp.Expr, *kinds: type[exp.Expr]) -> list[exp.Expr]:
    return [node for node in nodes(statement) if isinstance(node, kinds)][::-1]


def nodes(statement: exp.Expr) -> list[exp.Expr]:
    """All nodes, outermost first. The library's own walk takes half as long again, and every pass walks."""
    found = [statement]
    for node in found:  # which grows
        for part in node.args.values():
            if isinstance(part, exp.Expr):
                found.append(part)
            elif type(part) is list:
                found.extend(one for one in part if isinstance(one, exp.Expr))
    return found


def conjuncts(condition: exp.Expr) -> list[exp.Expr]:
    return list(condition.flatten()) if isinstance(condition, exp.And) else [condition]
