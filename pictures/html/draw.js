// SPDX-License-Identifier: MIT
// Pictures of one state: the graph at the places that Graphviz gave, and the memory map.

const SVG = "http://www.w3.org/2000/svg";
const CELL_HEIGHT = 36, ROOT_HEIGHT = 24, CHARACTER = 7;

function make(parent, tag, attributes, text) {
  const svg = parent.namespaceURI === SVG || tag === "svg";
  const e = svg ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const name in attributes) e.setAttribute(name, attributes[name]);
  if (text !== undefined) e.textContent = text;
  parent.append(e);
  return e;
}

function fit(text, width) {
  const room = Math.max(2, Math.floor((width - 6) / CHARACTER));
  return text.length <= room ? text : text.slice(0, room - 1) + "\u2026";
}

const describe = b => b.abstract ? blockText(b) : `${blockText(b)}, ${placeText(b)}`;
const classes = list => list.filter(c => c).join(" ");

// ---- graph

function drawCell(g, x, width, value, index, kind) {
  make(g, "rect", { x, y: 0, width, height: CELL_HEIGHT, class: classes(["cell", kind.path && "path", kind.diff && "diff"]) });
  if (kind.remembered) make(g, "path", { d: `M${x + width} 0h-9l9 9z`, class: "remembered" });
  make(g, "text", { x: x + 4, y: 10, class: "index" }, index);
  const middle = x + width / 2;
  if (isPointer(value)) make(g, "circle", { cx: middle, cy: 23, r: 3.5, class: "dot" });
  else if (isLost(value)) make(g, "text", { x: middle, y: 28, class: "value lost" }, "\u2715");
  else make(g, "text", { x: middle, y: 27, class: "value" }, fit(index === CELLS - 1 ? value : value.split(" ")[0], width));
}

function drawHead(g, n, b, kind) {
  make(g, "rect", { x: 0, y: 0, width: n.head, height: CELL_HEIGHT, class: classes(["head", kind.path && "path", kind.diff && "diff"]) });
  make(g, "text", { x: 7, y: 16, class: "key" }, n.key);
  make(g, "text", { x: 7, y: 29, class: "tag" }, fit(`t${b.tag}`, n.head - 14));
  if (!b.abstract) make(g, "circle", { cx: n.head - 9, cy: 10, r: 4, class: "colour " + COLOURS[b.colour] });
}

function drawBlock(svg, n, b, marks, diff, remembered) {
  const field = marks.cells.get(n.id), differs = diff.blocks.get(n.id) || new Set();
  const onPath = field !== undefined || marks.end === n.id;
  const g = make(svg, "g", {
    class: classes(["block", marks.end === n.id && "end", !b.reachable && "unreachable", b.isStatic && "static", onPath && "on-path", differs.size && "differs"]),
    "data-name": n.key, transform: `translate(${n.x - n.width / 2} ${n.y - CELL_HEIGHT / 2})`,
  });
  make(g, "title", {}, describe(b));
  drawHead(g, n, b, { path: marks.end === n.id, diff: differs.has("head") });
  let x = n.head;
  n.widths.forEach((width, f) => {
    if (f >= b.size) return;
    const rest = f === CELLS - 1 && b.size > CELLS;
    const value = rest ? `${b.size - f} more` : b.fields[f];
    drawCell(g, x, width, value, f, {
      path: field === f || (rest && field >= f),
      diff: differs.has(f) || (rest && [...differs].some(d => d >= f)),
      remembered: remembered && (remembered.has(f) || (rest && [...remembered].some(d => d >= f))),
    });
    x += width;
  });
  make(g, "rect", { x: 0, y: 0, width: x, height: CELL_HEIGHT, rx: 3, class: "frame" });
}

function drawGhost(svg, n, onPath) {
  const g = make(svg, "g", {
    class: classes(["ghost", onPath && "on-path"]), "data-name": n.key,
    transform: `translate(${n.x - n.width / 2} ${n.y - CELL_HEIGHT / 2})`,
  });
  make(g, "title", {}, `${n.key} is gone, and the model has it`);
  make(g, "rect", { x: 0, y: 0, width: n.width, height: CELL_HEIGHT, rx: 3 });
  make(g, "text", { x: n.width / 2, y: 23 }, n.width > 90 ? `${n.key} is gone` : `${n.key} \u2715`);
}

function drawRoot(svg, n, value, onPath, differs) {
  const lost = isLost(value);
  const g = make(svg, "g", {
    class: classes(["root", onPath && "on-path", differs && "differs", lost && "lost", !isPointer(value) && "empty"]),
    "data-name": n.key, transform: `translate(${n.x - n.width / 2} ${n.y - ROOT_HEIGHT / 2})`,
  });
  make(g, "title", {}, `${n.key} = ${value === undefined ? "0" : wordText(value)}`);
  make(g, "rect", { x: 0, y: 0, width: n.width, height: ROOT_HEIGHT, rx: ROOT_HEIGHT / 2, class: "pill" });
  make(g, "text", { x: n.width / 2, y: 16, class: "key" }, n.key);
  if (lost) make(g, "text", { x: n.width / 2, y: ROOT_HEIGHT + 15, class: "value lost" }, "\u2715");
}

function holds(state, edge) {
  const [from, field, to, offset] = edge, wanted = offset ? [to, offset] : to;
  if (nodes[from].root) return same(state.roots.get(nodes[from].key), wanted);
  const b = state.byNode.get(from);
  if (!b) return false;
  if (field < CELLS - 1) return isPointer(b.fields[field]) && same(b.fields[field], wanted);
  return b.fields.some((v, f) => f >= field && isPointer(v) && same(v, wanted));
}

function drawEdge(svg, edge, onPath, faint) {
  const p = edge[4];
  let d = `M${p[0]} ${p[1]}C`;
  for (let i = 2; i < p.length; i += 2) d += ` ${p[i]} ${p[i + 1]}`;
  make(svg, "path", { d, class: classes(["edge", onPath && "on-path", faint && "faint"]),
    "marker-end": onPath ? "url(#arrow-path)" : "url(#arrow)",
    "data-from": nodes[edge[0]].key, "data-to": nodes[edge[2]].key });
}

function edgeOnPath(edge, marks) {
  const from = nodes[edge[0]], field = from.root ? 0 : marks.cells.get(edge[0]);
  if (from.root) return marks.root === from.key;
  return field !== undefined && Math.min(field, CELLS - 1) === edge[1];
}

function drawGraph(box, layout, state, marks, diff, label) {
  const { width, height } = layout;
  const svg = make(box, "svg", { viewBox: `-6 -6 ${width + 12} ${height + 12}`, role: "img", "aria-label": label, class: "graph" });
  const late = [];
  for (const edge of layout.edges) {
    if (!holds(state, edge)) continue;
    const from = state.byNode.get(edge[0]), onPath = edgeOnPath(edge, marks);
    if (onPath) late.push(edge);
    else drawEdge(svg, edge, false, from && !from.reachable);
  }
  for (const node of nodes) {
    if (!layout.places[node.id]) continue;
    const n = { ...node, ...layout.places[node.id] };
    if (n.root) {
      if (state.roots.has(n.key) || marks.root === n.key)
        drawRoot(svg, n, state.roots.get(n.key), marks.root === n.key, diff.roots.has(n.key));
    } else if (state.byNode.has(n.id)) {
      drawBlock(svg, n, state.byNode.get(n.id), marks, diff, state.fieldsRemembered.get(n.id));
    } else if (diff.missing.includes(n.id)) {
      drawGhost(svg, n, diff.lostEnd === n.id);
    }
  }
  for (const edge of late) drawEdge(svg, edge, true, false);
  return svg;
}

// ---- map

const UNIT = 12, GAP = 1.5;

// Cuts [at, at + words) at the ends of rows.
function segments(at, words, columns) {
  const list = [];
  for (let start = at; start < at + words;) {
    const end = Math.min(at + words, (Math.floor(start / columns) + 1) * columns);
    list.push([start % columns, Math.floor(start / columns), end - start]);
    start = end;
  }
  return list;
}

const extentClass = b =>
  b.extent === FREE ? "free" : b.extent === FRAGMENT ? "fragment" : b.extent === UNUSED ? "unused"
    : b.reachable ? "live" : "unreachable";

function drawExtent(svg, b, at, columns, marks, diff, remembered) {
  const name = b.node >= 0 ? nodes[b.node].key : "";
  const onPath = b.node >= 0 && (marks.cells.has(b.node) || marks.end === b.node);
  const g = make(svg, "g", { class: classes(["extent", extentClass(b), onPath && "on-path", diff.blocks.has(b.node) && "differs"]) });
  if (name) g.setAttribute("data-name", name);
  g.setAttribute("data-at", b.at);
  make(g, "title", {}, describe(b));
  segments(at, b.words, columns).forEach(([x, y, n], i) => {
    const place = { x: x * UNIT + GAP / 2, y: y * (UNIT + 3) + GAP / 2, width: n * UNIT - GAP, height: UNIT + 1.5 };
    make(g, "rect", { ...place, rx: 1.5, class: "run" });
    if (i === 0 && b.extent === LIVE) make(g, "rect", { ...place, width: Math.min(4, place.width), class: "header" });
    if (i === 0 && name && n * UNIT > name.length * 6 + 8)
      make(g, "text", { x: place.x + 7, y: place.y + 10 }, name);
  });
  for (const field of remembered || []) {
    const [[x, y]] = segments(at + 1 + field, 1, columns);
    const mark = make(g, "path", { d: `M${(x + 1) * UNIT - GAP} ${y * (UNIT + 3) + GAP / 2}h-7l7 7z`, class: "remembered", "data-field": field });
    make(mark, "title", {}, `field ${field}${name && ` of ${name}`} is remembered`);
  }
}

// A line above and to the left of the first young word, as a step where that is within a row.
function drawBorder(svg, at, columns, words) {
  const x = at % columns * UNIT, y = Math.floor(at / columns) * (UNIT + 3), right = columns * UNIT;
  const line = make(svg, "path", { class: "border", "data-at": at,
    d: x ? `M0 ${y + UNIT + 3}H${x}V${y}H${right}` : `M0 ${y}H${right}` });
  make(line, "title", {}, `the young generation: words ${at} to ${words - 1}`);
}

function drawMap(box, state, party, marks, diff, label) {
  const heap = party === MODEL ? state.words : Math.max(data.heap, state.words);
  const columns = data.heap <= 512 ? 32 : data.heap <= 2048 ? 64 : 128, young = youngFrom(party);
  const statics = state.blocks.filter(b => b.isStatic);
  let rows = Math.max(1, Math.ceil(heap / columns));
  const svg = make(box, "svg", { role: "img", "aria-label": label, class: "map" });
  for (const b of state.blocks)
    if (!b.isStatic) drawExtent(svg, b, b.at, columns, marks, diff, state.fieldsRemembered.get(b.node));
  if (young < heap) drawBorder(svg, young, columns, heap);
  if (marks.lost >= 0 && marks.lost < heap) {
    const [[x, y]] = segments(marks.lost, 1, columns);
    const g = make(svg, "g", { class: "lost on-path", "data-at": marks.lost });
    make(g, "title", {}, `word ${marks.lost}: the path ends here, and no block is here`);
    make(g, "rect", { x: x * UNIT, y: y * (UNIT + 3), width: UNIT, height: UNIT + 3, class: "run" });
    make(g, "text", { x: x * UNIT + 3, y: y * (UNIT + 3) + 11 }, "\u2715");
  }
  if (statics.length) {
    let at = (rows + 1) * columns;
    make(svg, "text", { x: 2, y: (rows + 1) * (UNIT + 3) - 4, class: "row-label" }, "static");
    for (const b of statics) {
      drawExtent(svg, b, at, columns, marks, diff);
      at += b.words;
    }
    rows = Math.ceil(at / columns);
  }
  svg.setAttribute("viewBox", `0 0 ${columns * UNIT} ${rows * (UNIT + 3)}`);
  return svg;
}

// ---- the same as a table

function drawTable(box, state, party) {
  const table = make(box, "table", {});
  const head = make(make(table, "thead", {}), "tr", {});
  for (const title of ["block", "place", "tag", "colour", "state", "fields"]) make(head, "th", { scope: "col" }, title);
  const body = make(table, "tbody", {});
  for (const b of state.blocks) {
    if (b.extent !== LIVE) continue;
    const row = make(body, "tr", {}), name = b.node >= 0 ? nodes[b.node].key : "";
    const cell = make(row, "th", { scope: "row" });
    if (name) make(cell, "button", { type: "button", class: "name", "data-name": name }, name);
    else cell.textContent = "\u2013";
    make(row, "td", {}, placeText(b));
    make(row, "td", {}, tagText(b.tag));
    make(row, "td", {}, b.abstract ? "" : COLOURS[b.colour]);
    make(row, "td", {}, classes([b.reachable ? "reachable" : "unreachable", isYoung(b, party) && "young"]));
    const remembered = state.fieldsRemembered.get(b.node), marked = f => remembered && remembered.has(f) ? " (remembered)" : "";
    make(row, "td", {}, b.fields.slice(0, 32).map((v, f) => wordText(v) + marked(f)).join(", ") + (b.fields.length > 32 ? ", \u2026" : ""));
  }
}
