"""Registers runtimes as an installed package does, for the processes that a test starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def register(site: Path, runtimes: Mapping[str, str]) -> None:
    """Write what pip writes for a package with these entry points; ``site`` has to be
    on the path.
    """
    metadata = site / "someones_runtimes-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: someones-runtimes\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[cypool.runtimes]\n" + "".join(f"{name} = {place}\n" for name, place in runtimes.items()))
