"""Ask a process over its standard streams: a line in, a line back, within a time and a length.

Processes, signals, clocks and floods are dealt with here, whatever the lines say.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from subprocess import PIPE
from typing import IO

LONGEST_ANSWER = 1 << 26
KEPT_STDERR = 1 << 14
STDERR_LINES = 20
CHUNK = 1 << 16
POISONED_HEAP = {"MALLOC_PERTURB_": "165"}
"""The default environment of a process: glibc then fills allocated and freed memory with a fixed
byte.

Reading uninitialised memory gives the same wrong value in every run, not an accidental zero.
"""
STOP_SECONDS = 2.0


class Lost(Exception):
    """The process is gone, or had to be ended: ``status`` is ``crashed`` or ``timed out``, and the
    message says how.
    """

    def __init__(self, status: str, message: str, stderr: str) -> None:
        """``stderr`` is the end of what it wrote there."""
        super().__init__(message)
        self.status = status
        self.stderr = stderr


class Process:
    """A process in a group of its own, with pipes that never block.

    After it raised ``Lost`` it is dead, and of no more use.

    OSError where the command can't be started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        """Start it."""
        self._popen = subprocess.Popen(
            list(command), stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True, bufsize=0, env=POISONED_HEAP | os.environ
        )
        assert self._popen.stdin and self._popen.stdout and self._popen.stderr
        self._pipes: tuple[IO[bytes], ...] = (self._popen.stdin, self._popen.stdout, self._popen.stderr)
        self._in, self._out, self._err = (pipe.fileno() for pipe in self._pipes)
        for pipe in self._pipes:
            os.set_blocking(pipe.fileno(), False)
        self._said = bytearray()
        self._stderr = b""

    def ask(self, request: bytes, seconds: float) -> tuple[bytes, str]:
        """Return the line that answers, and what was written to standard error meanwhile.

        ``Lost`` is raised where no line comes within ``seconds``.
        """
        self._keep_stderr()
        self._stderr = b""
        line = self._exchange(request, time.monotonic() + seconds, seconds)
        self._keep_stderr()  # all that it wrote before it answered is in the pipe by now
        return line, self.stderr

    def _exchange(self, request: bytes, deadline: float, seconds: float) -> bytes:
        """Write, read and drain at once, whichever of the pipes is ready: none of them can hold the
        others up.
        """
        left = memoryview(request)
        searched = 0
        with selectors.DefaultSelector() as ready:
            ready.register(self._in, selectors.EVENT_WRITE)
            ready.register(self._out, selectors.EVENT_READ)
            ready.register(self._err, selectors.EVENT_READ)
            while (end := self._said.find(b"\n", searched)) < 0:
                searched = len(self._said)
                if searched > LONGEST_ANSWER:
                    raise self.lost("crashed", f"an answer of more than {LONGEST_ANSWER >> 20} MiB")
                events = ready.select(deadline - time.monotonic())
                if time.monotonic() >= deadline:
                    raise self.lost("timed out", f"no answer in {seconds:g} s")
                for key, _ in events:
                    if key.fd == self._in:
                        try:
                            left = left[os.write(self._in, left) :]
                        except BrokenPipeError:  # what it still has to say comes before its end
                            left = left[:0]
                        if not left:
                            ready.unregister(self._in)
                    elif key.fd == self._err:
                        if not self._keep_stderr():
                            ready.unregister(self._err)
                    elif not (chunk := os.read(self._out, CHUNK)):
                        raise self.lost("crashed")
                    else:
                        self._said += chunk
        line = bytes(self._said[: end + 1])
        del self._said[: end + 1]
        return line

    def _keep_stderr(self) -> bool:
        """Take what is there now, up to a measure, and keep its end; False where no
        more can come.
        """
        for _ in range(16):  # whoever writes faster than we read does not keep us here
            try:
                chunk = os.read(self._err, CHUNK)
            except BlockingIOError:
                return True
            if not chunk:
                return False
            self._stderr = (self._stderr + chunk)[-KEPT_STDERR:]
        return True

    @property
    def stderr(self) -> str:
        """The last lines that it wrote to standard error since it was last asked."""
        return "\n".join(self._stderr.decode(errors="replace").splitlines()[-STDERR_LINES:])

    def lost(self, status: str, message: str = "") -> Lost:
        """End what is left of it; without a message, say how it ended by itself."""
        if not message:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(STOP_SECONDS)
            code = self._popen.returncode
            message = "closed its standard output" if code is None else how_it_ended(code)
        self._end()
        return Lost(status, message, self.stderr)

    def close(self, farewell: bytes = b"") -> bool:
        """Say that nothing more comes, and see to it that it ends; whether it did so by itself."""
        with contextlib.suppress(OSError):
            os.write(self._in, farewell)
        self._pipes[0].close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._popen.wait(STOP_SECONDS)
        by_itself = self._popen.returncode is not None
        self._end()
        return by_itself

    def _end(self) -> None:
        """End the process, where it lives on, and what it started; its pipes are closed."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, signal.SIGKILL)
        self._popen.wait()
        self._keep_stderr()
        for pipe in self._pipes:
            pipe.close()


def how_it_ended(code: int) -> str:
    """Put a return code into words.

    >>> how_it_ended(-6), how_it_ended(3)
    ('killed by SIGABRT', 'ended with code 3')
    """
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
