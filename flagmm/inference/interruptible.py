"""Work in a thread of its own that Ctrl-C reaches all the same, though signals come to the main thread only."""

from __future__ import annotations

import asyncio
import ctypes
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

_T = TypeVar("_T")
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_listeners: dict[int, list[Callable[[], object]]] = {}  # by thread; the last one hears


def run_anywhere(work: Callable[[], _T]) -> _T:
    """Do the work, in a thread of its own where an event loop is running in this one, as in a notebook.

    Raises:
        KeyboardInterrupt: it was interrupted; the work has ended as it would in the main thread.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    with ThreadPoolExecutor(max_workers=1) as pool:
        thread = pool.submit(threading.get_ident).result()
        running = pool.submit(work)
        with _passing_on_signals(running, thread) as were_there:
            result = running.result()
        if were_there:
            raise KeyboardInterrupt
        return result


@contextmanager
def _passing_on_signals(running: Future[_T], thread: int) -> Iterator[list[int]]:
    """Let Ctrl-C interrupt what runs in the thread; gives the signals that came."""
    came: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield came
        return

    def pass_on(number: int, _: object) -> None:
        came.append(number)
        if not running.done():
            interrupt_thread(thread)

    signal.signal(signal.SIGINT, pass_on)
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def hearing_interrupts(listener: Callable[[], object]) -> Iterator[None]:
    """Have `listener` called for each Ctrl-C meanwhile, instead of a KeyboardInterrupt in this thread."""
    listeners = _listeners.setdefault(threading.get_ident(), [])
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)


def interrupt_thread(thread: int) -> None:
    """Do to a thread what Ctrl-C does to the main one."""
    listeners = _listeners.get(thread)
    if listeners:
        listeners[-1]()
    else:
        raise_in_thread(thread)


def raise_in_thread(thread: int) -> None:
    """Raise a KeyboardInterrupt in a thread, as soon as it runs Python code again."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt))


@contextmanager
def ended_by_interrupts(end: Callable[[], object]) -> Iterator[None]:
    """Have `end` called first when an interruption comes meanwhile; then it goes its usual way."""
    if threading.current_thread() is not threading.main_thread():
        thread = threading.get_ident()

        def interrupt_here() -> None:
            end()
            raise_in_thread(thread)

        with hearing_interrupts(interrupt_here):
            yield
        return
    handlers = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}

    def interrupt(number: int, frame: FrameType | None) -> None:
        end()
        handlers[signal.Signals(number)](number, frame)

    for number in handlers:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
