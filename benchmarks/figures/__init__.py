"""Figures of a day that pages of docs show: JSON as the commands beside it wrote it, and the places
in pages that are made from it.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

FOLDER = Path(__file__).parent
DOCS = FOLDER.parent.parent / "docs"


def place(name: str) -> re.Pattern[str]:
    """The part of a page that is made."""
    return re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)


def set_lines(text: str) -> str:
    """Wrap sentences as pages are wrapped; tables and pictures stay as they are."""
    paragraphs = text.strip().split("\n\n")
    return "\n\n".join(part if part.startswith(("|", "!")) else textwrap.fill(part, 100) for part in paragraphs) + "\n"


def put(page: str, name: str, text: str) -> None:
    """Write a made part into its page."""
    path = DOCS / page
    before = path.read_text(encoding="utf-8")
    path.write_text(place(name).sub(lambda match: match[1] + set_lines(text) + match[2], before), encoding="utf-8")


def standing(page: str, name: str) -> str:
    """The part as it stands in its page."""
    found = place(name).search((DOCS / page).read_text(encoding="utf-8"))
    assert found, f"{page} has no place for {name}"
    return found[0].partition("\n")[2].rpartition("<!--")[0]
