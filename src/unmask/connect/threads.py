"""Work in threads that may be left behind.

A call into a C library can hang for ever and keep Ctrl-C from being seen. Threads made here are
daemons: the caller waits as long as it likes, and the program can end without them. An executor's
threads would be waited for at exit.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

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


@dataclass(frozen=True, slots=True)
class Gathered(Generic[U]):
    """What came of many pieces of work."""

    results: dict[int, Future[U]]
    """By the item's place; what was not done in time is not there."""
    interrupted: bool
    """Ctrl-C was pressed while they were waited for."""


def gather(
    work: Callable[[T], U],
    items: Sequence[T],
    workers: int,
    seconds: float,
    told: Callable[[int], None],
) -> Gathered[U]:
    """Apply `work` to every item in at most `workers` threads, for at most so many seconds.

    Waiting ends at Ctrl-C; `told` is called with the number of items done, after each one.
    """
    todo: SimpleQueue[int] = SimpleQueue()
    done: SimpleQueue[tuple[int, Future[U]]] = SimpleQueue()
    for index in range(len(items)):
        todo.put(index)
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            try:
                index = todo.get_nowait()
            except Empty:
                return
            done.put((index, _settled(partial(work, items[index]))))

    results: dict[int, Future[U]] = {}
    end = time.monotonic() + seconds
    try:
        for _ in range(min(max(workers, 1), len(items))):
            start(run)
        while len(results) < len(items):
            index, future = done.get(timeout=max(0.0, end - time.monotonic()))
            results[index] = future
            told(len(results))
    except Empty:
        return Gathered(results, interrupted=False)
    except KeyboardInterrupt:
        return Gathered(results, interrupted=True)
    finally:
        over.set()
    return Gathered(results, interrupted=False)


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
