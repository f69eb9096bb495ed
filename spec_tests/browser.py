"""A real browser, driven over a pair of pipes in its own protocol: open a page, ask it things,
click, look at it.

Apart from the tests so that they are about the page. It needs the program ``chromium`` (a Debian
package) and nothing else.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 60
LAUNCH = """
import fcntl, os, sys
ours = [fcntl.fcntl(int(descriptor), fcntl.F_DUPFD, 10) for descriptor in sys.argv[1:3]]
for descriptor, place in zip(ours, (3, 4)):
    os.dup2(descriptor, place)
os.execv(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from descriptor 3 and writes to 4: this puts the pipes there."""


def program() -> str | None:
    """The path of a browser, None where there is none."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class Browser:
    """One page in a browser of its own; what its console and its network are told is kept."""

    def __init__(self, profile: Path) -> None:
        """Start it with an empty profile in this folder."""
        path = program()
        assert path, f"these tests need a browser: none of {', '.join(PROGRAMS)} is installed"
        theirs_in, self._out = os.pipe()
        self._in, theirs_out = os.pipe()
        command = [
            sys.executable,
            "-c",
            LAUNCH,
            str(theirs_in),
            str(theirs_out),
            path,
            *FLAGS,
            f"--user-data-dir={profile}",
            "about:blank",
        ]
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(command, pass_fds=(theirs_in, theirs_out), stdin=quiet, stdout=quiet, stderr=quiet)
        os.close(theirs_in)
        os.close(theirs_out)
        self._messages = self._read()
        self._ids = itertools.count(1)
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        (target,) = [found for found in self.call("Target.getTargets")["targetInfos"] if found["type"] == "page"]
        self._session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def _read(self):
        buffer = b""
        while select.select([self._in], [], [], SECONDS)[0] and (chunk := os.read(self._in, 1 << 16)):
            *messages, buffer = (buffer + chunk).split(b"\0")
            yield from map(json.loads, messages)
        raise AssertionError(f"the browser is gone, or has said nothing for {SECONDS} s")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """What the browser answers to a command."""
        id = next(self._ids)
        session = {"sessionId": self._session} if self._session else {}
        os.write(self._out, json.dumps({"id": id, "method": method, "params": parameters, **session}).encode() + b"\0")
        for message in self._messages:
            if message.get("id") == id:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)
        raise AssertionError("unreachable")

    def view(self, width: int, height: int, scheme: str = "light") -> None:
        """The size of the window in pixels, and what the user prefers, light or dark."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page: Path, fragment: str = "") -> None:
        """Load a file, with what stands behind the # of its address, and wait until its script has
        run.
        """
        self.call("Page.navigate", url="about:blank")
        self.events.clear()
        self.call("Page.navigate", url=page.as_uri() + fragment)
        for _ in range(3000):
            if self.ask("document.readyState") == "complete" and self.ask("location.protocol") == "file:":
                return
        raise AssertionError("the page does not finish")

    def ask(self, expression: str) -> Any:
        """The value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """Click the first element of that selector, where it stands, as a mouse does, and wait for
        the page to settle.
        """
        self.ask(f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'center', behavior: 'instant'}})")
        x, y = self.ask(
            f"(() => {{ const r = document.querySelector({json.dumps(selector)}).getClientRects()[0];"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def type(self, text: str) -> None:
        """Type into what has the focus."""
        self.call("Input.insertText", text=text)
        self.settle()

    def settle(self) -> None:
        """Wait until what was done has been drawn."""
        self.ask("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")

    def screenshot(self, path: Path) -> None:
        """A picture of the window."""
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def complaints(self) -> list[str]:
        """What the console and the security policy said since the page was opened."""
        kinds = ("Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled")
        return [json.dumps(event["params"]) for event in self.events if event.get("method") in kinds]

    def requests(self) -> list[str]:
        """What was asked of any network or disk since the page was opened."""
        urls = [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        return [url for url in urls if not url.startswith("data:")]

    def close(self) -> None:
        """End it."""
        with contextlib.suppress(OSError, AssertionError):
            self._session = None
            self.call("Browser.close")
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)
