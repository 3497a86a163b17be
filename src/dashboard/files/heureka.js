// Filter of the instance table. The page works without it; it only hides rows that the browser has already got.
(() => {
  "use strict";
  const input = document.getElementById("filter");
  const body = document.querySelector("table.apps tbody");
  if (!input || !body || body.querySelector("td.none")) return;

  const matches = document.getElementById("matches");
  // Texts are read once: the page does not change.
  const rows = Array.from(body.rows, (row) => ({
    row,
    name: row.cells[0].textContent.toLowerCase(),
    text: row.textContent.toLowerCase(),
    links: null,
  }));
  const linksOf = (entry) =>
    (entry.links ??= Array.from(entry.row.querySelectorAll(".group span"), (node) => ({
      node,
      text: node.textContent.toLowerCase(),
    })));

  // Ids mostly hold the name of their application: a word that has found the application finds no instance in it.
  const mark = (entry, allWords) => {
    const words = allWords.filter((word) => !entry.name.includes(word));
    for (const { node, text } of linksOf(entry)) {
      const isHit = words.some((word) => text.includes(word));
      node.classList.toggle("hit", isHit);
      const details = isHit && node.closest("details");
      if (details) details.open = true;
    }
  };

  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const entry of rows) {
      const isShown = words.every((word) => entry.text.includes(word));
      entry.row.hidden = !isShown;
      if (isShown) shown += 1;
      if (isShown || entry.links) mark(entry, isShown ? words : []);
    }
    matches.textContent = words.length ? `${shown} of ${rows.length} applications` : "";
    const address = new URL(location.href);
    address.hash = words.length ? `filter=${encodeURIComponent(input.value)}` : "";
    history.replaceState(null, "", address);
  };

  // A reload, or a link sent to a colleague, shows the same rows.
  const kept = /^#filter=(.*)$/.exec(location.hash);
  if (kept) {
    try {
      input.value = decodeURIComponent(kept[1]);
    } catch {
      input.value = "";
    }
  }
  input.closest("label").hidden = false;
  input.addEventListener("input", apply);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      input.value = "";
      apply();
    }
  });
  if (input.value) apply();
})();
