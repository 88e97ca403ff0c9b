"""A real, headless Chromium with the network off, spoken to over its debugging pipe (Chrome DevTools Protocol)."""

from __future__ import annotations

import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

_OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-quic", "--remote-debugging-pipe",
)  # fmt: skip
_SECONDS = 60  # for one answer; a loaded machine starts a browser slowly


def chromium() -> str:
    """The browser's path; the test is skipped where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("no Chromium or Chrome is installed to open the page in")
    return found


class Browser:
    """One page at a time; `errors` holds what its console said and what it tried to load."""

    def __init__(self, profile: Path) -> None:
        path = chromium()
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        # the browser reads from descriptor 3 and writes to 4, whatever numbers the pipes got here
        apart = [fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (to_child, from_child)]

        def place() -> None:
            os.dup2(apart[0], 3)
            os.dup2(apart[1], 4)

        self._process = subprocess.Popen(
            [path, *_OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=place, pass_fds=(3, 4), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for fd in (to_child, from_child, *apart):
            os.close(fd)
        self._buffer, self._number, self.errors = b"", 0, list[str]()
        self.requests: list[str] = []
        targets = self._call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self._call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
        )

    _session: str | None = None

    def open(self, file: Path, width: int, *, dark: bool = False) -> None:
        """Load a file in a window so many CSS pixels wide, and wait until all of it is there."""
        self.errors, self.requests = [], []
        self._call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 700
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=file.as_uri())
        end = time.monotonic() + _SECONDS
        while self.run("document.readyState + location.href") != "complete" + file.as_uri():
            if time.monotonic() > end:
                raise TimeoutError(f"{file} did not load")
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """The value of an expression in the page."""
        found = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise AssertionError(found["exceptionDetails"]["exception"]["description"])
        return found["result"].get("value")

    def close(self) -> None:
        """End the browser."""
        self._process.kill()
        self._process.wait()
        os.close(self._in)
        os.close(self._out)

    def _call(self, method: str, **params: Any) -> Any:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _next(self) -> Any:
        while b"\0" not in self._buffer:
            if not select.select([self._in], [], [], _SECONDS)[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self._in, 1 << 16)
            if not part:
                raise RuntimeError("the browser ended")
            self._buffer += part
        line, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(line)

    def _note(self, event: dict[str, Any]) -> None:
        told = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            self.errors.append(str(told["exceptionDetails"]))
        if event.get("method") == "Runtime.consoleAPICalled":
            self.errors.append(str(told["args"]))
        if event.get("method") == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
            self.errors.append(told["entry"]["text"])
        if event.get("method") == "Network.requestWillBeSent":
            self.requests.append(told["request"]["url"])
