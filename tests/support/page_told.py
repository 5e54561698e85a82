"""What a page of the HTML report says, read from it in the browser."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

GUESTS = """() => {
  const text = box => box.textContent.trim();
  const heads = [...document.querySelectorAll('#guest-table thead th')].map(text);
  return [...document.querySelectorAll('#guest-table tr[data-subject]')].map(row => ({
    ...row.dataset,
    id: row.id,
    shown: row.checkVisibility(),
    cells: Object.fromEntries([...row.cells].map((cell, at) => [heads[at], text(cell)])),
  }));
}"""

SHOWN = """() => [...document.querySelectorAll('#guest-table tr[data-subject]')]
  .filter(row => row.checkVisibility()).map(row => row.dataset.subject)"""

FINDINGS = """() => [...document.querySelectorAll('article.finding')].map(one => ({
  ...one.dataset,
  id: one.id,
  of: [...one.querySelectorAll('h4 a')].map(link => link.hash.slice(1)),
  message: one.querySelector('.message').textContent.trim(),
  commands: [...one.querySelectorAll('.cmd')].map(command => command.textContent),
}))"""

MOVES = """() => [...document.querySelectorAll('#migration table')].flatMap(table => {
  const heads = [...table.querySelectorAll('thead th')].slice(1);
  const nodes = heads.map(head => head.textContent.trim());
  return [...table.querySelectorAll('tbody tr')].flatMap(row =>
    [...row.querySelectorAll('th a')].flatMap(guest =>
      [...row.querySelectorAll('td')].map((cell, at) =>
        [guest.hash.slice(1), nodes[at], cell.firstChild.textContent.trim()])));
})"""

COUNTS = """() => [...document.querySelectorAll('#summary .counts li')]
  .map(item => item.textContent.trim().split(/\\s+/))"""


def guests(page: Page) -> list[Any]:
    """Return each guest: `subject`, `node`, `severity`, `status`, `id`, `shown`, `cells`."""
    found: list[Any] = page.evaluate(GUESTS)
    return found


def shown(page: Page) -> list[str]:
    """Return the subjects of the rows that are to be seen, from top to bottom."""
    found: list[str] = page.evaluate(SHOWN)
    return found


def findings(page: Page) -> list[Any]:
    """Return `code`, `severity`, `message`, `commands`, and the ids of what it is about as `of`."""
    found: list[Any] = page.evaluate(FINDINGS)
    return found


def moves(page: Page) -> dict[tuple[str, str], str]:
    """Return the word by guest's id and node's name."""
    return {(guest, node): word for guest, node, word in page.evaluate(MOVES)}


def counts(page: Page) -> dict[str, int]:
    """Return the numbers of the summary by the word beside them."""
    return {word: int(number) for number, word in page.evaluate(COUNTS)}


def subjects(page: Page, report: Any) -> dict[str, str]:
    """Return what an id of the page stands for; nodes and clusters are numbered as reported."""
    known = {row["id"]: row["subject"] for row in guests(page)}
    for kind, name in (("node", "hosts"), ("cluster", "clusters")):
        for number, one in enumerate(report[name], 1):
            known[f"{kind}-{number}"] = one["subject"]
    return known
