"""What can be wrong with the looks of a page, as the browser itself measures it."""

from __future__ import annotations

import os
from io import BytesIO
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Page

SMALLEST = 12
"""CSS pixels of the smallest text."""

STICKING_OUT = """() => {
  const width = document.documentElement.clientWidth;
  const boxes = [document.documentElement, document.body];
  const hides = boxes.some(box => ['hidden', 'clip'].includes(getComputedStyle(box).overflowX));
  if (hides) return ['the page hides what sticks out'];
  if (document.scrollingElement.scrollWidth <= width) return [];
  const scrolls = box => box && box !== document.body &&
    (getComputedStyle(box).overflowX !== 'visible' || scrolls(box.parentElement));
  return [...document.querySelectorAll('body *')]
    .filter(box => box.getBoundingClientRect().right > width + 0.5 && !scrolls(box.parentElement))
    .map(box => `${box.tagName}.${box.className} ends at ${box.getBoundingClientRect().right}`)
    .slice(0, 5).concat([`page ${document.scrollingElement.scrollWidth} of ${width}`]);
}"""

SMALL_TEXT = """least => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = new Set();
  while (walker.nextNode()) {
    const box = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !box.checkVisibility()) continue;
    if (['SCRIPT', 'STYLE', 'NOSCRIPT', 'OPTION'].includes(box.tagName)) continue;
    const matrix = box.getScreenCTM ? box.getScreenCTM() : null;
    const size = parseFloat(getComputedStyle(box).fontSize) * (matrix ? matrix.d : 1);
    if (size < least - 0.05) {
      found.add(`${size}: ${box.tagName} ${walker.currentNode.textContent.trim().slice(0, 40)}`);
    }
  }
  return [...found].slice(0, 10);
}"""


def sticking_out(page: Page) -> list[str]:
    """Return what makes the page wider than its window; parts that scroll by themselves may."""
    found: list[str] = page.evaluate(STICKING_OUT)
    return found


def small_text(page: Page) -> list[str]:
    """Return visible texts that are too small to read."""
    found: list[str] = page.evaluate(SMALL_TEXT, SMALLEST)
    return found


def unfold(page: Page) -> None:
    """Open all that is folded."""
    page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")


def picture(page: Page, folder: Path, name: str) -> Image.Image:
    """Return a picture of the whole page, one pixel a CSS pixel.

    It is kept in $UNMASK_SCREENSHOTS where that is set, beside one of what a window shows at first
    ("NAME-top"), that in all pixels that the screen has.
    """
    kept = Path(os.environ.get("UNMASK_SCREENSHOTS") or folder)
    kept.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=kept / f"{name}-top.png", animations="disabled")
    data = page.screenshot(
        path=kept / f"{name}.png",
        full_page=True,
        animations="disabled",
        scale="css",
    )
    return Image.open(BytesIO(data))


def colours(image: Image.Image) -> dict[Any, float]:
    """Return the share of each colour."""
    counted: Any = image.convert("RGB").getcolors(image.width * image.height)
    return {colour: count / (image.width * image.height) for count, colour in counted}
