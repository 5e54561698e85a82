"""Work in threads that may be left behind.

A call into a C library can hang for ever and keep Ctrl-C from being seen. Threads made here are
daemons: the caller waits as long as it likes, and the program can end without them. An executor's
threads would be waited for at exit.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import TypeVar

T = TypeVar("T")
U = TypeVar("U")


def within(seconds: float, job: Callable[[], T], late: Exception) -> T:
    """Return the result of `job`, or raise what it raised; raise `late` after `seconds`."""
    outcome: SimpleQueue[Future[T]] = SimpleQueue()
    start(lambda: outcome.put(_settled(job)))
    try:
        return outcome.get(timeout=seconds).result()
    except Empty:
        raise late from None


def spread(work: Callable[[T], U], items: Sequence[T], workers: int) -> list[U]:
    """Apply `work` to every item in at most `workers` threads and return the results in order."""
    todo: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Future[U]]] = SimpleQueue()
    for index in range(len(items)):
        todo.put(index)

    def run() -> None:
        while True:
            try:
                index = todo.get_nowait()
            except Empty:
                return
            done.put((index, _settled(partial(work, items[index]))))

    for _ in range(min(max(workers, 1), len(items))):
        start(run)
    results = dict(done.get() for _ in items)
    return [results[index].result() for index in range(len(items))]


def start(target: Callable[[], None]) -> None:
    """Run `target` in a daemon thread."""
    threading.Thread(target=target, name="unmask-connect", daemon=True).start()


def _settled(job: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 - handed to the thread that waits
        future.set_exception(error)
    return future
