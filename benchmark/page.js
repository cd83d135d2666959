// The script of all reports: shortens long names, and sorts tables by a click on a column header.
"use strict";
const page = (() => {
  const LIMIT = 34;  // maximum number of displayed characters of a name, if names stay different
  const WINDOW = 12;  // displayed characters at the position where names differ

  function commonPrefix(names) {
    let end = names[0].length;
    for (const name of names) {
      let same = 0;
      while (same < end && name[same] === names[0][same]) ++same;
      end = same;
    }
    return end;
  }

  const shown = (name, spans) => spans.map(([begin, end]) => name.slice(begin, end)).join("\n");

  // Adds a span; spans stay sorted, and adjacent spans are merged.
  function withSpan(spans, added) {
    const joined = [];
    for (const [begin, end] of [...spans, added].sort((a, b) => a[0] - b[0])) {
      const last = joined[joined.length - 1];
      if (last && begin <= last[1] + 1) last[1] = Math.max(last[1], end);
      else joined.push([begin, end]);
    }
    return joined;
  }

  // Prefixes up to a separator that most names have (such as the name of the network), longest first.
  function usualBeginnings(names) {
    const counts = new Map();
    for (const name of names) {
      for (const found of name.matchAll(/[\/.:;\s]/g)) {
        const begin = name.slice(0, found.index + 1);
        if (begin.length >= 6) counts.set(begin, (counts.get(begin) || 0) + 1);
      }
    }
    const usual = [...counts].filter(([, count]) => count > 1 && count >= 0.6 * names.length);
    return usual.map(([begin]) => begin).sort((a, b) => b.length - a.length);
  }

  // The start of the word with the difference, if it is near.
  function wordBefore(name, place) {
    const least = Math.max(0, place - 10);
    const at = name.slice(least, Math.max(least, place - 1)).search(/[\/.:;_-][^\/.:;_-]*$/);
    return at < 0 ? Math.max(0, place - 4) : least + at + 1;
  }

  // Maps each name to its displayed spans: without the common prefix of long names, and without the middle if it is still
  // too long. Different names are displayed differently.
  function cut(names, limit = LIMIT) {
    const all = [...new Set(names)], long = all.filter((name) => name.length > limit);
    const found = new Map(all.map((name) => [name, [[0, name.length]]]));
    const usual = usualBeginnings(long);
    for (const name of long) {
      const same = (usual.find((begin) => name.startsWith(begin)) || "").length;
      const rest = name.length - same, head = Math.floor(limit / 3);
      found.set(name, rest <= limit ? [[same, name.length]]
                                    : [[same, same + head], [name.length - (limit - head), name.length]]);
    }
    for (let round = 0; round < 8; ++round) {
      const groups = new Map();
      for (const name of all) {
        const key = shown(name, found.get(name));
        groups.set(key, [...(groups.get(key) || []), name]);
      }
      const alike = [...groups.values()].filter((group) => group.length > 1);
      if (!alike.length) break;
      for (const group of alike) {
        const at = commonPrefix(group);
        for (const name of group) {
          const window = [wordBefore(name, at), Math.min(name.length, at + WINDOW)];
          const end = [Math.max(0, name.length - (limit - WINDOW - 5)), name.length];
          found.set(name, withSpan(round ? found.get(name) : [end], window));
        }
      }
    }
    return found;
  }

  // The displayed text of a name, for charts.
  function text(name, spans) {
    let out = "", place = 0;
    for (const [begin, end] of spans) {
      out += (begin > place ? "…" : "") + name.slice(begin, end);
      place = end;
    }
    return out + (place < name.length ? "…" : "");
  }

  // Shortens a text to `limit` characters. The end is kept, because beginnings of names are similar.
  function middle(text, limit) {
    if (text.length <= limit) return text;
    const head = Math.floor((limit - 1) / 3);
    return text.slice(0, head) + "…" + text.slice(text.length - (limit - 1 - head));
  }

  // Elements of class `name`. Hidden characters stay in the text, so that they can be searched and copied.
  function shorten(root) {
    const elements = [...root.querySelectorAll(".name")];
    const spans = cut(elements.map((element) => element.textContent));
    for (const element of elements) {
      const name = element.textContent, pieces = [];
      element.title = element.title || name;
      const hidden = (begin, end) => {
        if (begin === end) return;
        const piece = document.createElement("i");
        piece.className = "cut";
        piece.textContent = name.slice(begin, end);
        pieces.push(piece);
      };
      let place = 0;
      for (const [begin, end] of spans.get(name)) {
        hidden(place, begin);
        pieces.push(name.slice(begin, end));
        place = end;
      }
      hidden(place, name.length);
      element.replaceChildren(...pieces);
    }
    for (const label of root.querySelectorAll("[data-label]")) {  // in charts, with space for data-room characters
      const room = Number(label.dataset.room);
      label.textContent = room > 8 || room >= label.dataset.label.length ? middle(label.dataset.label, room) : "";
    }
  }

  // The sort key of a cell: its `data-value`, else its text; null if it is empty.
  function keyOf(cell) {
    const value = (cell === undefined ? "" : cell.dataset.value ?? cell.textContent).trim();
    return value === "" || value === "-" || value === "–" ? null : value;
  }

  const number = (key) => Number(key.replace(/[\s,]|%$/g, ""));

  // Sorts in both directions. Empty cells are last, and the sort is stable.
  function sorted(rows, column, descending) {
    const keys = new Map(rows.map((row) => [row, keyOf(row.cells[column])]));
    const known = rows.filter((row) => keys.get(row) !== null);
    const numeric = known.every((row) => !Number.isNaN(number(keys.get(row))));
    const order = (a, b) => numeric ? number(keys.get(a)) - number(keys.get(b))
                                    : keys.get(a).localeCompare(keys.get(b), "en", { numeric: true });
    known.sort((a, b) => descending ? order(b, a) : order(a, b));
    return { rows: [...known, ...rows.filter((row) => keys.get(row) === null)], numeric };
  }

  function makeSortable(table) {
    const body = table.tBodies[0];
    if (!table.tHead || !body || body.rows.length < 2) return;
    const original = [...body.rows], heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      if (!head.textContent.trim()) return;
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column; click again to reverse, a third time to restore the order";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const first = sorted(original, column, false).numeric ? "descending" : "ascending";
        const second = first === "ascending" ? "descending" : "ascending";
        const was = head.getAttribute("aria-sort");
        const now = was === first ? second : was === second ? null : first;
        for (const one of heads) one.removeAttribute("aria-sort");
        if (now) head.setAttribute("aria-sort", now);
        body.append(...(now ? sorted(original, column, now === "descending").rows : original));
      });
    });
  }

  document.addEventListener("DOMContentLoaded", () => {
    shorten(document);
    document.querySelectorAll("table").forEach(makeSortable);
  });
  return { cut, text, middle, sorted };
})();
