// What the pages of the benchmark program share: drawings, cards, and what a page says of itself.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const ms = (x) => (x >= 100 ? x.toFixed(0) : x >= 1 ? x.toFixed(2) : x.toFixed(3)) + " ms";
const size = (x) => x >= 1048576 ? (x / 1048576).toFixed(1) + " MiB" : x >= 1024 ? (x / 1024).toFixed(1) + " KiB" : x + " B";

function draw(host, width, height) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  host.append(svg);
  return (name, attributes, text, title) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    if (title) {
      const hint = document.createElementNS(SVG, "title");
      hint.textContent = title;
      node.append(hint);
    }
    svg.append(node);
  };
}

function showCards(cards) {
  for (const [value, label] of cards) {
    const card = document.createElement("div");
    card.className = "card";
    card.append(Object.assign(document.createElement("b"), { textContent: value }),
                Object.assign(document.createElement("span"), { textContent: label }));
    byId("cards").append(card);
  }
}

// Lines across a drawing at some values, from x = left on, with what they stand for.
function scale(add, left, width, values, y, text) {
  for (const value of values) {
    add("line", { x1: left, x2: width, y1: y(value), y2: y(value), stroke: "var(--line)" });
    add("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text(value));
  }
}

function about({ made, version, command, file, bytes, sha256 }) {
  const add = (title, ...parts) => {
    const dd = document.createElement("dd");
    dd.append(...parts);
    byId("about").append(Object.assign(document.createElement("dt"), { textContent: title }), dd);
  };
  const code = (text) => Object.assign(document.createElement("code"), { textContent: text });
  const time = document.createElement("time");
  time.dateTime = made;
  time.textContent = made.replace("T", " ").replace("Z", " UTC");
  add("made", time);
  add("by", `mslite ${version}`);
  add("command", code(command));
  const grouped = String(bytes).replace(/\B(?=(\d{3})+$)/g, " ");
  add("source", `${file}, ${grouped} bytes`, document.createElement("br"), "SHA-256 ", code(sha256));
}
