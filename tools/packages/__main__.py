"""Build packages of this checkout.

python -m tools.packages DIRECTORY [KIND...]     from the top of the checkout; kinds: wheel deb pyz

Without a kind it builds all of them; the wheel comes with the source distribution, and is made for
each of the others too. The same checkout gives the same bytes.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tools.packages import bundle, deb, distributions, pyz

KINDS = ("wheel", "pyz", "deb")


def main(words: list[str]) -> int:
    """Build and print the path of each file; 2 on a wrong command line."""
    out, *kinds = words or [""]
    if not out or not set(kinds) <= set(KINDS):
        print(__doc__, file=sys.stderr)
        return 2
    kinds = kinds or list(KINDS)
    folder = Path(out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    epoch = distributions.epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch)
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as work:
        made = distributions.build(folder if "wheel" in kinds else Path(work))
        built = [*made] if "wheel" in kinds else []
        if set(kinds) & {"pyz", "deb"}:
            tree = bundle.tree(distributions.wheel(made), Path(work) / "tree")
            if "pyz" in kinds:
                built.append(pyz.build(tree, folder / "unmask.pyz", epoch))
            if "deb" in kinds:
                built.append(deb.build(tree, folder, Path(work) / "deb", epoch))
    for path in built:
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
