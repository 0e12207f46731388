"""Tasks over partitions, as Dask runs them."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

# How many results are added in one task.
_ADDED = 4


class Tasks:
    """What runs tasks: the workers of a client, or what Dask is set to use.

    All tasks are functions of their inputs alone, which they leave as they are: results
    of a lost worker are computed again. By default the current client's workers run
    them, or threads.
    """

    def __init__(self, client: Any = None) -> None:
        self._client = client

    def call(self, function: Callable[..., Any], *inputs: Any) -> Any:
        """A task that calls a function with the results of others."""
        from dask import delayed

        # Dask would search plain arguments for tasks, so the function brings them.
        return delayed(function, pure=False, traverse=False)(*inputs)

    def value(self, content: Any) -> Any:
        """Something that many tasks need, and that each worker gets once."""
        from dask import delayed

        name = f"bayleaf-{uuid.uuid4().hex}"
        return delayed(content, name=name, traverse=False)

    def added(self, parts: Sequence[Any], add: Callable[[Any, Any], Any]) -> Any:
        """The sum of all results, in a fixed order; they are added as they finish."""
        left = list(parts)
        while len(left) > 1:
            left = [
                self.call(partial(_sum, add), *left[first : first + _ADDED])
                if first + 1 < len(left)
                else left[first]
                for first in range(0, len(left), _ADDED)
            ]
        return left[0]

    def kept(self, tasks: Sequence[Any]) -> list[Any]:
        """The same tasks, whose results stay on the workers."""
        import dask

        if self._client is not None:
            return list(self._client.persist(list(tasks)))
        return list(dask.persist(*tasks))

    def results(self, tasks: Sequence[Any]) -> list[Any]:
        """What tasks return, brought here."""
        import dask

        if self._client is not None:
            return list(self._client.gather(self._client.compute(list(tasks))))
        return list(dask.compute(*tasks))


def _sum(add: Callable[[Any, Any], Any], *parts: Any) -> Any:
    """The sum of some results, from left to right."""
    return reduce(add, parts)
