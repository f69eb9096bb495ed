"""Print the oldest version that pyproject.toml allows of everything that running and testing needs,
as requirements for pip.
"""

import re
import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
needs = {
    *project["project"]["dependencies"],
    *(need for extra in project["project"]["optional-dependencies"].values() for need in extra),
    *project["dependency-groups"]["test"],
}
for need in sorted(needs):
    if found := re.fullmatch(r"([\w.-]+(?:\[\w+\])?)>=([\d.]+)", need):
        print(f"{found[1]}=={found[2]}")
    else:
        raise SystemExit(f"{need}: expected NAME>=VERSION")
