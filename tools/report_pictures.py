"""Write the pictures of the HTML report in docs/images anew.

The browser's tests take them, of the lab's cluster (`make pictures`); here they are made small.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
TEST = "tests/browser/test_looks.py"
SHOWN = {
    "report-desktop": "lab-desktop-light",
    "report-phone": "lab-phone-light",
}
"""Picture in docs by the picture of the test: what a window shows at first."""
COLOURS = 128
LARGEST = 250_000
"""Bytes of one picture."""


def small(picture: Path) -> Image.Image:
    """Return a picture with few colours."""
    with Image.open(picture) as image:
        return image.convert("RGB").quantize(
            COLOURS, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE
        )


def main() -> None:
    """Take the pictures and write them small."""
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pytest", "-q", TEST, "-k", "pictures"]
        variables = os.environ | {"CI": "1", "UNMASK_SCREENSHOTS": folder}
        if subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode:
            sys.exit("the test that takes the pictures has failed, see above")
        for name, taken in SHOWN.items():
            file = IMAGES / f"{name}.png"
            small(Path(folder) / f"{taken}-top.png").save(file, optimize=True)
            print(f"{file.relative_to(ROOT)}: {file.stat().st_size} bytes")
            if file.stat().st_size > LARGEST:
                sys.exit(f"{file.name} has more than {LARGEST} bytes")


if __name__ == "__main__":
    main()
