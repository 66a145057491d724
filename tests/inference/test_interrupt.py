"""Signals: the first lets nothing new start and keeps what is finished."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading

import pytest

from flagmm.inference.interrupt import Gate, NotStarted, Stop
from flagmm.models.client import BaseClient
from flagmm.types import CallSettings, ModelOutput


class Answering(BaseClient):
    async def generate(self, messages, settings):
        return ModelOutput(text="A")


def test_the_gate_lets_calls_through_until_the_stop():
    stop = Stop()
    gate = Gate(Answering(), stop)
    settings = CallSettings(question_id="1")
    assert asyncio.run(gate.generate([], settings)).text == "A"
    stop.request()
    with pytest.raises(NotStarted):
        asyncio.run(gate.generate([], settings))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_requests_the_stop_and_the_work_goes_on(number, caplog):
    async def work():
        os.kill(os.getpid(), number)
        await asyncio.sleep(0.05)
        return "finished"

    loop = asyncio.new_event_loop()
    stop = Stop()
    with stop.listening(loop):
        assert loop.run_until_complete(work()) == "finished"
    loop.close()
    assert stop.requested
    assert caplog.messages == ["stopping: waiting up to 10 s for calls under way; once more to stop at once"]


def test_the_handlers_of_before_are_there_again_afterwards():
    # The next task's preparation must be interruptible as the first one's was.
    def handler(*_):
        raise KeyboardInterrupt

    before = {number: signal.signal(number, handler) for number in (signal.SIGINT, signal.SIGTERM)}
    loop = asyncio.new_event_loop()
    try:
        with Stop().listening(loop):
            pass
        assert [signal.getsignal(number) for number in before] == [handler, handler]
    finally:
        loop.close()
        for number, old in before.items():
            signal.signal(number, old)


def test_outside_the_main_thread_signals_are_left_alone():
    entered = []

    def run():
        loop = asyncio.new_event_loop()
        with Stop().listening(loop):
            entered.append(True)
        loop.close()

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert entered == [True]
    assert signal.getsignal(signal.SIGTERM) is before


def test_the_grace_is_not_over_while_nothing_was_requested():
    with pytest.raises(asyncio.TimeoutError):
        asyncio.run(asyncio.wait_for(Stop().grace_over(), 0.05))


REQUESTS = {"before": "stop.request()", "meanwhile": "asyncio.get_running_loop().call_later(0.1, stop.request)"}


@pytest.mark.parametrize("requested", REQUESTS)
def test_the_grace_ends_some_time_after_the_request(requested):
    # GRACE_SECONDS is read when the waiting begins, so that a program of its own may shorten it.
    code = (
        "import asyncio, time\n"
        "from flagmm.inference import interrupt\n"
        "interrupt.GRACE_SECONDS = 0.2\n"
        "async def main():\n"
        "    stop = interrupt.Stop()\n"
        f"    {REQUESTS[requested]}\n"
        "    started = time.monotonic()\n"
        "    await stop.grace_over()\n"
        "    print(time.monotonic() - started)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert float(done.stdout) >= (0.2 if requested == "before" else 0.3)


def test_the_second_request_ends_the_command_s_own_process_at_once_with_130():
    code = (
        "from flagmm.inference.interrupt import Stop\nfrom flagmm.process import own_process\n"
        "with own_process():\n    stop = Stop()\nstop.request()\nstop.request()\nprint('here')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (130, "")


def test_in_another_process_the_second_request_drops_what_runs_and_the_third_interrupts_anything():
    stop = Stop()

    async def work():
        stop.request()
        stop.request()
        await asyncio.sleep(30)

    asyncio.run(asyncio.wait_for(stop.heeded(work()), 5))
    with pytest.raises(KeyboardInterrupt):
        stop.request()


def test_another_loop_s_signals_reach_it_again_afterwards():
    # A notebook's event loop hears of signals through a file of the process, of which there is only one.
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.setblocking(False)
        before = signal.set_wakeup_fd(theirs.fileno())
        loop = asyncio.new_event_loop()
        try:
            with Stop().listening(loop):
                pass
            assert signal.set_wakeup_fd(before) == theirs.fileno()
        finally:
            loop.close()
            signal.set_wakeup_fd(before)
