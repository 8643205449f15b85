"""Find out from inventory.json who depends on whom and which licences there are, into dependencies.json."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path


def main() -> None:
    """Turn the requirements around, count the licences and say what was found."""
    packages = json.loads(Path("inventory.json").read_text(encoding="utf-8"))
    names = {package["name"] for package in packages}
    edges = [(package["name"], other) for package in packages for other in package["requires"] if other in names]
    used_by = Counter(needed for _, needed in edges)
    licences = Counter(package["licence"] for package in packages)
    roots = sorted(names - set(used_by))
    found = {"edges": edges, "used_by": used_by.most_common(), "licences": licences.most_common(), "roots": roots}
    Path("dependencies.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    most, users = found["used_by"][0] if edges else ("none", 0)
    print(f"{len(edges)} dependencies between the packages; {most} is needed by most, {users} others.")
    print(f"{len(roots)} packages are needed by no other. {len(licences)} different licences are stated.")


if __name__ == "__main__":
    main()
