"""Two classifiers: one reads descriptions, the other looks at edges. Both learn from the nodes whose class is not hidden."""

from __future__ import annotations

import numpy as np

from catalogue import Catalogue, Class

Classes = dict[str, str]
"""Classes of the hidden nodes, by name."""

_STEPS = 300
_RATE = 0.5
_SMOOTHING = 0.5


def descriptions(catalogue: Catalogue) -> Classes:
    """Softmax regression on the words of a description."""
    words = np.column_stack([np.ones(len(catalogue.names)), catalogue.words])
    known = ~catalogue.hidden
    right = _one_hot(catalogue)
    weights = np.zeros((words.shape[1], len(Class)))
    for _ in range(_STEPS):
        shares = _softmax(words[known] @ weights)
        weights += _RATE * words[known].T @ (right[known] - shares) / known.sum()
    return _chosen(catalogue, words @ weights)


def edges(catalogue: Catalogue) -> Classes:
    """Naive Bayes on which relations lead from and to a node."""
    seen = _relations(catalogue)
    known, right = ~catalogue.hidden, _one_hot(catalogue)
    members = right[known].sum(axis=0)[:, None]
    likely = (right[known].T @ seen[known] + _SMOOTHING) / (members + 2 * _SMOOTHING)
    found = seen @ np.log(likely).T + (1 - seen) @ np.log(1 - likely).T + np.log(members[:, 0])
    return _chosen(catalogue, found)


def _relations(catalogue: Catalogue) -> np.ndarray:
    """For each node, whether an edge of each relation leads from it, and to it."""
    names = sorted({relation for _, relation, _ in catalogue.edges})
    row = {name: index for index, name in enumerate(catalogue.names)}
    seen = np.zeros((len(row), 2 * len(names)))
    for head, relation, tail in catalogue.edges:
        seen[row[head], 2 * names.index(relation)] = 1
        seen[row[tail], 2 * names.index(relation) + 1] = 1
    return seen


def _one_hot(catalogue: Catalogue) -> np.ndarray:
    return np.eye(len(Class))[[list(Class).index(which) for which in catalogue.classes]]


def _softmax(values: np.ndarray) -> np.ndarray:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def _chosen(catalogue: Catalogue, scores: np.ndarray) -> Classes:
    best = scores.argmax(axis=1)
    return {catalogue.names[row]: list(Class)[best[row]].value for row in np.flatnonzero(catalogue.hidden)}
