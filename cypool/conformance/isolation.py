"""A runtime in a process of its own: ask it for one case after another; whatever it does, an outcome comes back.

Apart from the runner so that processes, signals and clocks are dealt with in one place, and nothing here knows what a right answer is.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from subprocess import PIPE

from cypool.conformance.protocol import PROTOCOL, Description, Outcome, ProtocolError, decode, encode
from cypool.conformance.runtimes.table import find

START_SECONDS = 60.0  # importing a large runtime on a cold disk
STOP_SECONDS = 2.0
LONGEST_ANSWER = 1 << 28
STDERR_LINES = 20


class Unavailable(Exception):
    """The runtime can't be had here; the message names it and how to install it, in one line."""


class _Lost(Exception):
    """The process is gone, or had to be ended; it carries what to say of the case that was asked."""

    def __init__(self, status: str, message: str, stderr: str) -> None:
        super().__init__(message)
        self.outcome = Outcome(status, message=message, stderr=stderr)


class _Process:
    """One worker process. After it raised ``_Lost`` it is dead, and of no more use."""

    def __init__(self, command: Sequence[str]) -> None:
        self._popen = subprocess.Popen(list(command), stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True)
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self._pipes = self._in, self._out, self._err = self._popen.stdin, self._popen.stdout, self._popen.stderr
        self._stderr: deque[str] = deque(maxlen=STDERR_LINES)
        self._drain = threading.Thread(target=self._keep_stderr, daemon=True)
        self._drain.start()

    def _keep_stderr(self) -> None:
        for line in iter(lambda: self._err.readline(4096), b""):
            self._stderr.append(line.decode(errors="replace").rstrip("\n"))

    def ask(self, request: bytes, seconds: float) -> dict[str, object]:
        """The answer to a request, within so many seconds.

        A timer ends the process when they are over, which ends the reading and the writing below, wherever they hang.
        """
        self._stderr.clear()
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            self.kill()

        timer = threading.Timer(seconds, expire)
        timer.start()
        try:
            self._in.write(request)
            self._in.flush()
            line = self._out.readline(LONGEST_ANSWER)
        except OSError:
            line = b""
        finally:
            timer.cancel()
            timer.join()
        if expired.is_set():
            raise self._lost("timed out", f"no answer in {seconds:g} s")
        if not line.endswith(b"\n"):
            raise self._lost("crashed", "the answer has no end" if len(line) >= LONGEST_ANSWER else "")
        try:
            return decode(line)
        except ProtocolError as error:
            raise self.broken(error) from None

    def broken(self, error: ProtocolError) -> _Lost:
        """What to raise when the process speaks, but not the protocol."""
        return self._lost("crashed", f"broke the protocol: {error}")

    def _lost(self, status: str, message: str) -> _Lost:
        """End what is left of the process and tell how it ended, unless the caller knows better."""
        code = self._end(0 if message else STOP_SECONDS)
        return _Lost(status, message or _how_it_ended(code), "\n".join(self._stderr))

    def kill(self) -> None:
        """End the process and what it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)

    def close(self) -> None:
        """Ask it to stop, and see to it that it does."""
        with contextlib.suppress(OSError):
            self._in.write(encode({"cmd": "stop"}))
            self._in.flush()
        self._end(STOP_SECONDS)

    def _end(self, patience: float) -> int:
        """The return code of the process, which is killed when it lives on for so many seconds; its pipes are closed."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(patience)
        self.kill()
        code = self._popen.wait()
        self._drain.join(STOP_SECONDS)
        for pipe in self._pipes:
            with contextlib.suppress(OSError):
                pipe.close()
        return code


def _how_it_ended(code: int) -> str:
    """What a return code says.

    >>> _how_it_ended(-6), _how_it_ended(3)
    ('killed by SIGABRT', 'ended with code 3')
    """
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"


class Isolated:
    """A runtime under test, in a worker that is started again whenever it was lost.

    ``Unavailable`` where the worker can't be started, at first or again; else every ``run`` gives an outcome, whatever the runtime does.
    """

    def __init__(self, name: str, seconds: float, command: Sequence[str] | None = None) -> None:
        """Start the worker; each case may take so many seconds. ``command`` is for a program that speaks the protocol by itself."""
        self.name = name
        self._seconds = seconds
        self._command = command or (sys.executable, "-m", "cypool.conformance.worker", name)
        self._process: _Process | None = None
        self.description = self._start()

    def _start(self) -> Description:
        process = _Process(self._command)
        try:
            answer = process.ask(encode({"cmd": "describe"}), START_SECONDS)
        except _Lost as lost:
            why = lost.outcome.stderr.splitlines()[-1:] or [str(lost)]
            raise self._unavailable(why[0]) from None
        if answer.get("protocol") != PROTOCOL:
            process.close()
            raise self._unavailable(str(answer.get("message", f"it speaks protocol {answer.get('protocol')!r}, not {PROTOCOL}")))
        self._process = process
        return Description(str(answer.get("name", self.name)), str(answer.get("version", "")))

    def _unavailable(self, why: str) -> Unavailable:
        return Unavailable(f"runtime {self.name} is not available: {why} ({find(self.name).install})")

    def run(self, id: str, request: bytes) -> Outcome:
        """What comes of a ``run`` request that carries this id."""
        if self._process is None:
            self._start()
        assert self._process is not None
        try:
            answer = self._process.ask(request, self._seconds)
            try:
                if answer.get("id") != id:
                    raise ProtocolError(f"an answer for {answer.get('id')!r}")
                return Outcome.from_json(answer)
            except ProtocolError as error:
                raise self._process.broken(error) from None
        except _Lost as lost:
            self._process = None
            return lost.outcome

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            self._process.close()
            self._process = None
