"""The lists that come with cypool, for the releases of the day of runtimes that many
people have.
"""

from __future__ import annotations

from importlib import resources

FOLDER = resources.files("cypool.conformance") / "expected"


def shipped() -> dict[str, str]:
    """Return the text of each list, by the name of its runtime.

    >>> sorted(shipped())
    ['onnxruntime', 'openvino', 'tract']
    """
    return {file.name.removesuffix(".toml"): file.read_text(encoding="utf-8") for file in FOLDER.iterdir() if file.name.endswith(".toml")}
