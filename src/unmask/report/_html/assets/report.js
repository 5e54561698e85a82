"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  const tools = byId("tools");
  tools.hidden = false;
  byId("theme").addEventListener("change", (event) => {
    if (event.target.value) root.dataset.theme = event.target.value;
    else delete root.dataset.theme;
  });

  /* Folding. On paper everything is unfolded, and afterwards as it was. */
  const folds = () => [...document.querySelectorAll("main details")];
  const unfold = byId("unfold");
  unfold.addEventListener("click", () => {
    const open = unfold.getAttribute("aria-pressed") !== "true";
    for (const fold of folds()) fold.open = open;
    unfold.setAttribute("aria-pressed", String(open));
  });
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = folds().filter((fold) => !fold.open);
    for (const fold of closed) fold.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const fold of closed) fold.open = false;
    closed = [];
  });

  /* What a link leads to is unfolded, and not hidden by the filter. */
  const reveal = () => {
    const target = byId(location.hash.slice(1));
    if (!target) return;
    if (target.closest("tr[hidden]")) clearFilter();
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };

  /* Commands are copied whole, as they stand. */
  const said = document.createElement("p");
  said.className = "unseen";
  said.setAttribute("role", "status");
  document.body.append(said);
  const copy = async (button, text) => {
    let done = false;
    try {
      await navigator.clipboard.writeText(text);
      done = true;
    } catch {
      const box = document.createElement("textarea");
      box.value = text;
      document.body.append(box);
      box.select();
      done = document.execCommand("copy");
      box.remove();
      button.focus();
    }
    button.textContent = done ? "copied" : "not copied";
    said.textContent = done ? "The command was copied." : "The command could not be copied.";
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  };
  for (const code of document.querySelectorAll("code.cmd")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", `Copy ${code.textContent.slice(0, 80)}`);
    code.after(button);
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button.copy");
    if (button) copy(button, button.previousElementSibling.textContent);
    /* The same link again changes no address, and its target may be folded since. */
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash) reveal();
  });

  /* Guests: filter and sort. A guest is a body of the table with a line and its details. */
  const table = byId("guest-table");
  let clearFilter = () => {};
  if (table) {
    const bodies = [...table.tBodies];
    const text = byId("filter");
    const node = byId("filter-node");
    const severity = byId("filter-severity");
    const count = byId("shown-count");
    const entries = bodies.map((body, index) => ({
      body, index, row: body.rows[0], words: body.textContent.toLowerCase(),
    }));
    const apply = () => {
      const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const { body, row, words } of entries) {
        const fits = (!node.value || row.dataset.node === node.value)
          && (!severity.value || row.dataset.severity === severity.value)
          && wanted.every((word) => words.includes(word));
        for (const each of body.rows) each.hidden = !fits;
        if (fits) shown += 1;
      }
      count.textContent = `${shown} of ${entries.length} guest${entries.length === 1 ? "" : "s"}`;
    };
    let timer = 0;
    text.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(apply, entries.length > 500 ? 150 : 0);
    });
    node.addEventListener("change", apply);
    severity.addEventListener("change", apply);
    clearFilter = () => {
      text.value = node.value = severity.value = "";
      apply();
    };
    byId("controls").hidden = false;

    const ranks = {
      severity: ["critical", "high", "medium", "low", "info", "none"],
      status: ["software", "partial", "unknown", "unseen", "hardware", "not-affected", "none"],
    };
    const order = new Intl.Collator("en", { numeric: true, sensitivity: "base" });
    const key = (entry, column, kind) => (kind === "text"
      ? entry.row.cells[column].textContent.trim()
      : ranks[kind].indexOf(entry.row.dataset[kind]));
    const sort = (header) => {
      const kind = header.dataset.sort;
      const column = header.cellIndex;
      const down = header.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      header.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keyed = entries.map((entry) => ({ entry, value: key(entry, column, kind) }));
      keyed.sort((one, two) => {
        const by = kind === "text" ? order.compare(one.value, two.value) : one.value - two.value;
        return (down ? -by : by) || one.entry.index - two.entry.index;
      });
      table.append(...keyed.map(({ entry }) => entry.body));
    };
    for (const header of table.tHead.rows[0].cells) {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...header.childNodes);
      button.addEventListener("click", () => sort(header));
      header.append(button);
      header.classList.add("sorts");
    }
  }
  window.addEventListener("hashchange", reveal);
  if (location.hash) reveal();
})();
