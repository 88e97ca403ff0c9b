"""One learner at a time: what two threads learn is added up, and not lost where both began from the same totals."""

from __future__ import annotations

import os
from threading import RLock
from typing import Any
from weakref import WeakKeyDictionary

# beside the estimators, which are copied, pickled and take over each other's attributes
_TURNS: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def turn(learner: object) -> Any:
    """The lock that a thread holds from reading what an estimator knows until it has replaced it.

    Predicting takes no lock: it reads the state of one moment.
    """
    return _TURNS.setdefault(learner, RLock())


if hasattr(os, "register_at_fork"):  # a thread that held one is not there in a forked child, and never releases it
    os.register_at_fork(after_in_child=_TURNS.clear)
