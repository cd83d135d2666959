// The script of the reports of `benchmark`: charts, cards and the origin of the page.
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
// Formats a time in milliseconds; microseconds if it is below 1 ms.
const digits = (x) => (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2));
const ms = (x) => (x === 0 ? "0" : x >= 1 ? `${x >= 100 ? x.toFixed(0) : x.toFixed(2)} ms` : `${digits(1000 * x)} µs`);
const size = (x) => x >= 1048576 ? (x / 1048576).toFixed(1) + " MiB" : x >= 1024 ? (x / 1024).toFixed(1) + " KiB" : x + " B";

// The same for round numbers.
const round = (x) => x >= 1 ? `${+x.toPrecision(3)} ms` : `${+(1000 * x).toPrecision(3)} µs`;
const grouped = (x) => String(x).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");  // without a line break

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

// Powers of ten from `least` to `most`; also 2 and 5 times these if there are fewer than three.
function logTicks(least, most) {
  for (const steps of [[1], [1, 2, 5]]) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(least)); power <= Math.log10(most); ++power) {
      for (const step of steps) ticks.push(step * 10 ** power);
    }
    const inside = ticks.filter((tick) => tick >= least * 0.999 && tick <= most * 1.001);
    if (inside.length > 2 || steps.length > 1) return inside.length ? inside : [least, most];
  }
}

// Draws horizontal grid lines with labels, from x = left on.
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
  add("source", `${file}, ${grouped(bytes)} bytes`, document.createElement("br"), "SHA-256 ", code(sha256));
}
