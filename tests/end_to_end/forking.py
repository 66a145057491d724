"""Commands as forked children of one process that has imported flagmm, since importing it takes longer than they do.

A child is a process of its own, with its own folder, environment and streams, and can be signalled and killed; only
what happens before `main` is not the real thing, for which tests of that give a command its `argv`.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path

_PRELOADED = (
    # What most runs load, but for packages that read the environment when they are imported, as `datasets` does.
    "aiohttp", "asyncio", "ctypes", "difflib", "fractions", "html", "logging", "sqlite3", "statistics", "tabulate",
    "tqdm", "PIL.Image", "PIL.ImageOps", "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "multiprocessing", "pandas",
    "flagmm.cli.check", "flagmm.cli.compare", "flagmm.cli.eval", "flagmm.cli.run", "flagmm.cli.score",
    "flagmm.cli.vlmeval",
    "flagmm.assembly", "flagmm.cli.logs", "flagmm.manifest", "flagmm.models.http", "flagmm.pipeline",
    "flagmm.report.general_table", "flagmm.run.api", "flagmm.run.vlmeval.api",
    "flagmm.evaluator.base_evaluator", "flagmm.dataset.vqa_base_dataset", "flagmm.prompt.template",
)  # fmt: skip


class ForkedProcess:
    """A command under way: what tests use of `subprocess.Popen`, for a child of the server."""

    def __init__(self, server: Path, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> None:
        self.returncode: int | None = None
        out, err = os.pipe(), os.pipe()
        self.stdout = os.fdopen(out[0], encoding="utf-8", errors="replace")
        self.stderr = os.fdopen(err[0], encoding="utf-8", errors="replace")
        self._texts = ["", ""]
        self._readers: list[threading.Thread] = []
        self._connection = socket.socket(socket.AF_UNIX)
        self._connection.connect(str(server))
        request = json.dumps({"arguments": list(arguments), "cwd": str(cwd), "env": dict(env)}).encode()
        socket.send_fds(self._connection, [len(request).to_bytes(8, "big")], [out[1], err[1]])
        self._connection.sendall(request)
        os.close(out[1])
        os.close(err[1])
        self.pid = _receive_number(self._connection)

    def poll(self) -> int | None:
        """The exit status, minus the signal's number where one ended it; None while it is running."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(timeout=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """The exit status, once it has ended.

        Raises:
            subprocess.TimeoutExpired: it is running still.
        """
        if self.returncode is None:
            with selectors.DefaultSelector() as selector:
                selector.register(self._connection, selectors.EVENT_READ)
                if not selector.select(timeout):
                    raise subprocess.TimeoutExpired("flagevalmm", timeout or 0)
            self.returncode = _receive_number(self._connection)
            self._connection.close()
        return self.returncode

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Everything it prints until it has ended.

        Raises:
            subprocess.TimeoutExpired: it is running still; call again for what it printed.
        """
        end = None if timeout is None else time.monotonic() + timeout
        if not self._readers:
            self._readers = [threading.Thread(target=self._read, args=(number,), daemon=True) for number in (0, 1)]
            for reader in self._readers:
                reader.start()
        for reader in self._readers:
            reader.join(None if end is None else max(0.0, end - time.monotonic()))
            if reader.is_alive():
                raise subprocess.TimeoutExpired("flagevalmm", timeout or 0)
        self.wait(None if end is None else max(0.1, end - time.monotonic()))
        return self._texts[0], self._texts[1]

    def _read(self, number: int) -> None:
        with (self.stdout, self.stderr)[number] as stream:
            self._texts[number] = stream.read()

    def send_signal(self, number: int) -> None:
        """Send a signal, if it is running still."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)


class ForkServer:
    """The process that forks: started when the first command is, ended with the tests."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fork")
        self.path = Path(self._folder.name) / "socket"
        # Its standard input stays open as long as this process lives: its end is the server's sign to end.
        one_thread = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}  # a process with threads should not fork
        self._process = subprocess.Popen(
            [sys.executable, __file__, str(self.path)], stdin=subprocess.PIPE, env=os.environ | one_thread
        )
        while not self.path.exists():
            if self._process.poll() is not None:
                raise RuntimeError("the process that forks commands did not start")
            time.sleep(0.01)

    def start(self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str]) -> ForkedProcess:
        """Begin a command."""
        return ForkedProcess(self.path, arguments, cwd=cwd, env=env)

    def close(self) -> None:
        """End the server; commands under way end by themselves."""
        self._process.communicate()
        self._folder.cleanup()


def _receive_number(connection: socket.socket) -> int:
    data = b""
    while len(data) < 8:
        block = connection.recv(8 - len(data))
        if not block:
            raise RuntimeError("the process that forks commands has gone")
        data += block
    return int.from_bytes(data, "big", signed=True)


def _serve(path: Path) -> None:
    """Fork a child a connection, and tell each connection its child's number and, in the end, its exit status."""
    for name in _PRELOADED:
        importlib.import_module(name)
    gc.freeze()
    children: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(woken, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    listener = socket.socket(socket.AF_UNIX)
    waiting = path.with_suffix(".new")
    listener.bind(str(waiting))
    listener.listen(64)
    waiting.rename(path)
    with selectors.DefaultSelector() as selector:
        for end in (listener, woken, sys.stdin.fileno()):
            selector.register(end, selectors.EVENT_READ)
        while True:
            ready = [key.fileobj for key, _ in selector.select()]
            if sys.stdin.fileno() in ready:
                return
            if woken in ready:
                os.read(woken, 4096)
                _reap(children)
            if listener in ready:
                connection, _ = listener.accept()
                header, streams, *_ = socket.recv_fds(connection, 8, 2)
                number = _fork(connection, int.from_bytes(header, "big"), streams)
                children[number] = connection
                connection.sendall(number.to_bytes(8, "big"))
                for stream in streams:
                    os.close(stream)


def _reap(children: dict[int, socket.socket]) -> None:
    with contextlib.suppress(ChildProcessError):
        while True:
            number, status = os.waitpid(-1, os.WNOHANG)
            if not number:
                return
            with children.pop(number) as connection, contextlib.suppress(OSError):  # a test that failed has gone
                connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


def _fork(connection: socket.socket, length: int, streams: Sequence[int]) -> int:
    with connection.makefile("rb", buffering=0) as reader:
        request = b""
        while len(request) < length:
            request += reader.read(length - len(request)) or b""
    number = os.fork()
    if not number:
        _run(json.loads(request), streams)
    return number


def _run(request: Mapping[str, object], streams: Sequence[int]) -> None:
    """Be the command; does not return."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(streams[0], 1)
    os.dup2(streams[1], 2)
    os.closerange(3, 256)
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    os.environ.update(request["env"])  # type: ignore[call-overload]
    arguments = list(map(str, request["arguments"]))  # type: ignore[call-overload]
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    errors = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    sys.stderr = sys.__stderr__ = errors
    sys.argv = ["flagevalmm", *arguments]
    sys.path[:1] = [os.getcwd(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    status = 1
    try:
        from flagmm.cli import main

        status = main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
    except BaseException:  # noqa: BLE001  # the end of the process, as the interpreter would have it
        traceback.print_exc()
    _end(status)


def _end(status: int) -> None:
    """What the interpreter does at its end, without the server's share of it."""
    import atexit

    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _serve(Path(sys.argv[1]))
