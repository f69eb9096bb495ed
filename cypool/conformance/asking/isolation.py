"""Hold a runtime in a process of its own, which is asked for one case after another.

Whatever the runtime does, an outcome comes back. A lost process is dealt with here and nowhere
else; nothing here knows what a right answer is.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from cypool.conformance.asking.pipes import Lost, Process
from cypool.conformance.asking.protocol import PROTOCOL, Description, Outcome, ProtocolError, decode, encode
from cypool.conformance.asking.runtimes.table import find

START_SECONDS = 60.0  # importing a large runtime on a cold disk


class Unavailable(Exception):
    """The runtime can't be had here; the message names it and how to install it, in one line."""


class Isolated:
    """A runtime under test, in a worker process that is started again whenever it was lost.

    ``Unavailable`` is raised where the worker can't be started at first; after that every ``run``
    gives an outcome. ``options`` are those of a ``run`` request that the worker says it heeds,
    ``command`` is what starts it.
    """

    def __init__(self, name: str, seconds: float, command: Sequence[str] | None = None) -> None:
        """Start the worker.

        ``seconds`` is the time limit of a case; ``command`` is for a program that speaks the
        protocol by itself.
        """
        self.name = name
        self._seconds = seconds
        self.command = command or find(name).command
        self._process: Process | None = None
        self._asked = 0  # of the process that there is
        self._gone = ""
        self.options: frozenset[str] = frozenset()
        self.description = self._start()

    def twin(self) -> Isolated:
        """Return the same runtime in another process."""
        return Isolated(self.name, self._seconds, self.command)

    def _start(self) -> Description:
        try:
            process = Process(self.command)
        except (OSError, IndexError) as error:  # an empty command has no first word
            raise self._unavailable(getattr(error, "strerror", "") or "no program is named", find(self.name).install) from None
        try:
            line, _ = process.ask(encode({"cmd": "describe"}), START_SECONDS)
            try:
                answer = decode(line)
            except ProtocolError as error:
                raise process.lost("crashed", f"broke the protocol: {error}") from None
        except Lost as lost:
            raise self._unavailable((lost.stderr.splitlines() or [str(lost)])[-1]) from None
        if answer.get("protocol") != PROTOCOL:
            process.close(encode({"cmd": "stop"}))
            message = str(answer.get("message", f"it speaks protocol {answer.get('protocol')!r}, not {PROTOCOL}"))
            raise self._unavailable(message, self._remedy(str(answer.get("missing", ""))))
        self._process, self._asked = process, 0
        options = answer.get("options", ())
        self.options = frozenset(map(str, options)) if isinstance(options, list) else frozenset()
        return Description(str(answer.get("name", self.name)), str(answer.get("version", "")))

    def _unavailable(self, why: str, remedy: str = "") -> Unavailable:
        return Unavailable(f"runtime {self.name} is not available: {why}" + (f" ({remedy})" if remedy else ""))

    def _remedy(self, missing: str) -> str:
        """Say what to install where a module is missing: the runtime itself, or what it imports."""
        entry = find(self.name)
        if entry.adapter == "registered":
            return entry.install
        own = entry.module or entry.target.partition(":")[0]
        if not missing or own == missing or own.startswith(f"{missing}."):
            return entry.install if missing else ""
        return f"it needs the module {missing!r}: install what provides it"

    @property
    def fresh(self) -> bool:
        """Tell whether the next case will be the first that its process is asked."""
        return self._process is None or not self._asked

    def run(self, id: str, request: bytes) -> Outcome:
        """Return the outcome of a ``run`` request with this id.

        It is ``not run`` where the worker was lost and does not start again.
        """
        try:
            if self._process is None and not self._gone:
                self._start()
        except Unavailable as error:
            self._gone = str(error)
        if self._process is None:
            return Outcome("not run", message=self._gone)
        self._asked += 1
        try:
            line, stderr = self._process.ask(request, self._seconds)
            try:
                answer = decode(line)
                if answer.get("id") != id:
                    raise ProtocolError(f"an answer for {answer.get('id')!r}")
                return dataclasses.replace(Outcome.from_json(answer), stderr=stderr)
            except ProtocolError as error:
                raise self._process.lost("crashed", f"broke the protocol: {error}") from None
        except Lost as lost:
            self._process = None
            return Outcome(lost.status, message=str(lost), stderr=lost.stderr)

    def close(self) -> None:
        """End the worker."""
        if self._process is not None:
            self._process.close(encode({"cmd": "stop"}))
            self._process = None
