// SPDX-License-Identifier: MIT
// The page: what is shown of a step, slider and keys, the theme, and names that light up together.

const $ = id => document.getElementById(id);
const failingStep = data.verdict.failed ? steps.indexOf(data.verdict.op) : -1;
const PARTY_ORDER = PARTY_NAMES.map((_, p) => p).filter(p => p === MODEL || timeline[p].size || data.parties[p][1] !== "none");
const MOMENTS = ["before", "after"];
const figures = []; // [party][moment]: {figure, scroller, map, table, details}
let step = failingStep >= 0 ? failingStep : steps.length - 1;
let zoom = 0; // 0: fit
let selected = "";
let layout = layouts.near || layouts.whole;

// ---- one picture

function absence(party, moment) {
  if (step === 0 && moment === "before")
    return data.first ? "Earlier states are left out: there are too many." : "Nothing has been built yet.";
  if (step === failingStep && moment === "after") return "No state: the run ended in this operation.";
  return "The heap cannot be walked.";
}

// Of the party at fault and where the path breaks off: the block that should be there.
function lostEnd(marks, model) {
  const end = follow(model).end;
  return marks.end === end ? -1 : end;
}

function showPicture(party, moment) {
  const f = figures[party][moment], at = step - (moment === "before" ? 1 : 0);
  const state = stateAt(party, at), model = stateAt(MODEL, at);
  const named = `${PARTY_NAMES[party]}, ${moment} ${titleOf(steps[step])}`;
  for (const box of [f.scroller, f.map, f.table]) box.replaceChildren();
  f.figure.classList.toggle("absent", !state);
  f.details.hidden = !state;
  f.roots.textContent = "";
  if (!state) {
    make(f.scroller, "p", { class: "absence" }, absence(party, moment));
    return 0;
  }
  const marks = follow(state), diff = party === MODEL ? differences(null) : differences(state, model);
  diff.lostEnd = party === MODEL ? -1 : lostEnd(marks, model);
  if (!state.byNode.size && !state.roots.size) make(f.scroller, "p", { class: "absence" }, "No block has a name here, and no root leads anywhere.");
  else drawGraph(f.scroller, layout, state, marks, diff, `Graph: ${named}`);
  drawMap(f.map, state, party, marks, diff, `Memory map: ${named}`);
  const plain = [...state.roots].filter(([key]) => !nodeOfKey.has(key));
  if (plain.length) f.roots.textContent = "Other roots: " + plain.map(([k, v]) => `${k} = ${wordText(v)}`).join(", ");
  if (f.details.open) drawTable(f.table, state, party);
  return diff.count;
}

function chipText(party, count) {
  if (party === MODEL) return "what must be there";
  if (!stateAt(party, step)) return "";
  return count === 0 ? "\u2713 graph as in the model" : `\u26a0 ${count} ${count === 1 ? "place differs" : "places differ"} from the model`;
}

// ---- a step

function where() {
  const op = steps[step];
  const title = titleOf(op).replace(/^./, c => c.toUpperCase());
  const switches = document.querySelector(`#program .op[data-op="${op}"] .switches`);
  return title + (switches ? `; ${switches.title}` : "") + (step === failingStep ? " \u2014 it fails here" : "");
}

function show(to) {
  step = Math.max(0, Math.min(steps.length - 1, to));
  for (const party of PARTY_ORDER) {
    showPicture(party, "before");
    const count = showPicture(party, "after"), chip = figures[party].chip;
    chip.textContent = chipText(party, count);
    chip.className = classes(["compared", party !== MODEL && (count ? "differs" : "equal")]);
  }
  $("slider").value = step;
  $("slider").setAttribute("aria-valuetext", where());
  $("where").textContent = where();
  $("where").classList.toggle("fails", step === failingStep);
  $("first").disabled = $("previous").disabled = step === 0;
  $("last").disabled = $("next").disabled = step === steps.length - 1;
  for (const line of document.querySelectorAll("#program .op")) {
    const op = Number(line.dataset.op), current = op === steps[step];
    line.classList.toggle("current", current);
    line.classList.toggle("later", op > steps[step]);
    const button = line.querySelector("button");
    if (current) button.setAttribute("aria-current", "step");
    else button.removeAttribute("aria-current");
    if (current) keepInView($("program"), line);
  }
  layOut();
  light();
}

function keepInView(box, line) {
  const top = line.offsetTop; // in the box, which is its offset parent
  if (top < box.scrollTop || top + line.offsetHeight > box.scrollTop + box.clientHeight)
    box.scrollTop = top - box.clientHeight / 2;
}

// ---- zoom and scrolling, the same for all graphs, so that the same place is in view in each

function everyFigure(visit) {
  for (const party of PARTY_ORDER) for (const moment of MOMENTS) visit(figures[party][moment], party, moment);
}

function scaleFor(scroller) {
  const fitting = Math.min(1.15, (scroller.clientWidth - 4) / (layout.width + 12));
  return zoom || (fitting < 0.5 ? 0.75 : fitting);
}

function layOut() {
  const scale = scaleFor(figures[PARTY_ORDER[0]].after.scroller);
  everyFigure(f => {
    const svg = f.scroller.querySelector("svg");
    if (!svg) return;
    svg.setAttribute("width", (layout.width + 12) * scale);
    svg.setAttribute("height", (layout.height + 12) * scale);
  });
  toThePath();
}

// Brings the path's end, or what differs, or the middle into view.
function toThePath() {
  let target = null;
  for (const moment of ["after", "before"])
    for (const party of PARTY_ORDER) {
      const box = figures[party][moment].scroller;
      target = target || box.querySelector(".ghost.on-path, .block.end") || box.querySelector(".differs, .root.on-path");
    }
  target = target || figures[PARTY_ORDER[0]].after.scroller.querySelector(".block");
  if (!target) return;
  const svg = target.closest("svg"), box = svg.parentNode, a = target.getBoundingClientRect(), b = svg.getBoundingClientRect();
  const left = a.left - b.left + a.width / 2 - box.clientWidth / 2, top = a.top - b.top + a.height / 2 - box.clientHeight / 2;
  everyFigure(f => f.scroller.scrollTo(left, top));
}

let scrolling = false;
function scrollTogether(from) {
  if (scrolling) return;
  scrolling = true;
  everyFigure(f => {
    if (f.scroller !== from) f.scroller.scrollTo(from.scrollLeft, from.scrollTop);
  });
  requestAnimationFrame(() => { scrolling = false; });
}

function zoomBy(factor) {
  const scale = scaleFor(figures[PARTY_ORDER[0]].after.scroller);
  zoom = factor ? Math.min(3, Math.max(0.1, scale * factor)) : 0;
  layOut();
}

function dragToScroll(box) {
  let from = null;
  box.addEventListener("pointerdown", e => {
    if (e.pointerType === "mouse" && e.button === 0) from = [e.clientX + box.scrollLeft, e.clientY + box.scrollTop];
  });
  addEventListener("pointerup", () => { from = null; });
  box.addEventListener("pointermove", e => {
    if (from) box.scrollTo(from[0] - e.clientX, from[1] - e.clientY);
  });
  box.addEventListener("wheel", e => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoomBy(e.deltaY < 0 ? 1.15 : 1 / 1.15);
  }, { passive: false });
}

// ---- names light up together

function light() {
  for (const e of document.querySelectorAll(".selected")) e.classList.remove("selected");
  if (selected)
    for (const e of document.querySelectorAll(`[data-name="${CSS.escape(selected)}"]`)) e.classList.add("selected");
}

function detailOf(element) {
  const figure = element.closest("figure"), title = element.querySelector("title");
  if (!figure || !title) return element.dataset.name || "";
  const party = Number(figure.dataset.party), moment = figure.dataset.moment;
  const state = stateAt(party, step - (moment === "before" ? 1 : 0));
  const block = state && state.byNode.get(nodeOfKey.get(element.dataset.name));
  const fields = block ? `; fields: ${block.fields.slice(0, 12).map(wordText).join(", ")}${block.fields.length > 12 ? ", \u2026" : ""}` : "";
  return `${PARTY_NAMES[party]} ${moment}: ${title.textContent}${fields}`;
}

function select(element) {
  const name = element ? element.dataset.name || "" : "";
  selected = element && name === selected && name ? "" : name;
  light();
  $("detail").hidden = !element || (!selected && !element.classList.contains("extent"));
  if (element) $("detail").textContent = detailOf(element);
}

document.addEventListener("click", e => select(e.target.closest("[data-name], .extent")));

// ---- the parties

function addFigure(row, party, moment) {
  const figure = make(row, "figure", { "data-party": party, "data-moment": moment, class: moment });
  make(figure, "figcaption", {}, moment);
  const scroller = make(figure, "div", { class: "graph-box", tabindex: "0", role: "region", "aria-label": `Graph, ${PARTY_NAMES[party]} ${moment}` });
  const roots = make(figure, "p", { class: "roots" });
  const map = make(figure, "div", { class: "map-box" });
  const details = make(figure, "details", {});
  make(details, "summary", {}, "Blocks as a table");
  const table = make(details, "div", { class: "table-box", tabindex: "0", role: "region", "aria-label": `Blocks, ${PARTY_NAMES[party]} ${moment}` });
  details.addEventListener("toggle", () => {
    const state = stateAt(party, step - (moment === "before" ? 1 : 0));
    table.replaceChildren();
    if (details.open && state) drawTable(table, state, party);
  });
  scroller.addEventListener("scroll", () => scrollTogether(scroller));
  dragToScroll(scroller);
  return { figure, scroller, roots, map, table, details };
}

function addParty(party) {
  const [name, collector] = data.parties[party], guilty = data.verdict.guilty === name;
  const article = make($("states"), "article", { class: classes(["party", guilty && "guilty"]), "data-party": name });
  const title = make(article, "h2", {}, name[0].toUpperCase() + name.slice(1));
  if (collector) make(title, "span", { class: "collector" }, collector);
  if (guilty) make(title, "span", { class: "guilty-mark" }, "guilty");
  const chip = make(title, "span", { class: "compared" });
  const row = make(article, "div", { class: "pair" });
  figures[party] = { chip };
  for (const moment of MOMENTS) figures[party][moment] = addFigure(row, party, moment);
}

function addZoom() {
  const box = make($("states"), "div", { class: "zoom", role: "group", "aria-label": "Zoom of the graphs" });
  const add = (label, text, factor) => make(box, "button", { type: "button", "aria-label": label, title: label }, text)
    .addEventListener("click", () => zoomBy(factor));
  make(box, "span", {}, "Graphs");
  if (layouts.near) {
    const whole = make(box, "button", { type: "button", id: "whole", "aria-pressed": "false" }, "Whole");
    whole.title = "All blocks, not only those near the path";
    whole.addEventListener("click", () => {
      layout = layout === layouts.near ? layouts.whole : layouts.near;
      whole.setAttribute("aria-pressed", layout === layouts.whole);
      show(step);
    });
  }
  add("Smaller", "\u2212", 1 / 1.3);
  add("Fit", "Fit", 0);
  add("Larger", "+", 1.3);
  if (layouts.near)
    make($("states"), "p", { class: "note" }, "A large heap: the graphs show the differing path and its neighbours. \u201cWhole\u201d shows the rest; the maps always do.");
  if (data.graph.left_out)
    make($("states"), "p", { class: "note" }, `The graphs leave out ${data.graph.left_out} blocks: garbage, and what is farthest from the path. The maps have all.`);
  if (data.full || data.first)
    make($("states"), "p", { class: "note" }, "The run has more states than this page holds: only some are here.");
}

// Marks that the pictures refer to.
function addDefinitions() {
  const svg = make(document.body, "svg", { width: 0, height: 0, class: "definitions", "aria-hidden": "true" });
  const defs = make(svg, "defs", {});
  for (const id of ["arrow", "arrow-path"]) {
    const marker = make(defs, "marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
      markerUnits: "userSpaceOnUse", orient: "auto" });
    make(marker, "path", { d: "M0 0.5 L8 4 L0 7.5 z", class: id });
  }
  const hatch = make(defs, "pattern", { id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  make(hatch, "rect", { width: 5, height: 5, class: "hatch-ground" });
  make(hatch, "rect", { width: 1.6, height: 5, class: "hatch-line" });
  const dots = make(defs, "pattern", { id: "dots", width: UNIT, height: UNIT + 3, patternUnits: "userSpaceOnUse" });
  make(dots, "circle", { cx: UNIT / 2, cy: UNIT / 2 + 1.5, r: 1.2, class: "dots-dot" });
}

function addLegend() {
  const items = [["live", "live block; the dark edge is its header"], ["unreachable", "no root reaches it"], ["free", "free block"],
    ["fragment", "fragment: a header alone"], ["unused", "unused words"], ["path-mark", "on the differing path"], ["diff-mark", "differs from the model"]];
  if (YOUNG_WORDS.some(n => n)) items.push(["border-mark", "below the line: the young generation"]);
  if (data.states.some(state => state[6] && state[6].length)) items.push(["remembered-mark", "a remembered field"]);
  const list = make($("legend"), "ul", {});
  for (const [kind, text] of items) {
    const item = make(list, "li", {});
    const svg = make(item, "svg", { viewBox: "0 0 34 16", width: 34, height: 16, class: "map", "aria-hidden": "true" });
    const g = make(svg, "g", { class: `extent ${kind === "path-mark" ? "live on-path" : kind === "diff-mark" ? "live differs" : kind === "remembered-mark" ? "live" : kind}` });
    if (kind === "border-mark") make(g, "path", { d: "M0 8H34", class: "border" });
    else make(g, "rect", { x: 1, y: 1, width: 32, height: 14, rx: 1.5, class: "run" });
    if (kind === "remembered-mark") make(g, "path", { d: "M33 1h-9l9 9z", class: "remembered" });
    if (/live|unreach|mark/.test(kind) && kind !== "border-mark") make(g, "rect", { x: 1, y: 1, width: 4, height: 14, class: "header" });
    make(item, "span", {}, text);
  }
  make($("legend"), "p", {}, "A block is drawn as it lies in memory: header, then fields, each with its number. The header has the " +
    "block\u2019s name, its tag (t) and, as a disc, its colour. b3 is block 3 of the program, n7 what operation 7 allocated. " +
    "\u2715 is a pointer to no block; a dashed red outline stands where the model has a block and the heap has none. " +
    "\u21c6 counts how often another thread went on during an operation. " +
    "Left and right arrow keys step through the script, Home and End go to its ends; select a block or a name, and it lights up everywhere.");
}

// ---- controls

function addControls() {
  const slider = $("slider");
  slider.max = steps.length - 1;
  slider.addEventListener("input", () => show(Number(slider.value)));
  $("first").addEventListener("click", () => show(0));
  $("previous").addEventListener("click", () => show(step - 1));
  $("next").addEventListener("click", () => show(step + 1));
  $("last").addEventListener("click", () => show(steps.length - 1));
  if (failingStep >= 0) {
    $("failing").hidden = false;
    $("failing").title = "fails here";
    $("failing").style.setProperty("--at", steps.length > 1 ? failingStep / (steps.length - 1) : 0.5);
  }
  for (const line of document.querySelectorAll("#program .op")) {
    const at = steps.indexOf(Number(line.dataset.op));
    line.classList.toggle("failing", at >= 0 && at === failingStep);
    if (at < 0) line.querySelector("button").disabled = true;
    line.querySelector("button").addEventListener("click", e => { if (!e.target.closest("[data-name]")) show(at); });
  }
}

const KEYS = { ArrowLeft: () => step - 1, ArrowRight: () => step + 1, Home: () => 0, End: () => steps.length - 1 };
document.addEventListener("keydown", e => {
  const inBox = e.target.closest && e.target.closest(".graph-box, .table-box, code");
  if (e.key === "Escape") select(null);
  if (!KEYS[e.key] || inBox || e.ctrlKey || e.metaKey || e.altKey) return;
  e.preventDefault();
  show(KEYS[e.key]());
});

function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  $("theme").textContent = dark ? "Light" : "Dark";
  $("theme").setAttribute("aria-pressed", dark);
}

const wantsDark = matchMedia("(prefers-color-scheme: dark)");
theme(wantsDark.matches);
wantsDark.addEventListener("change", () => theme(wantsDark.matches));
$("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
$("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText($("replay").textContent);
    $("copy").textContent = "Copied";
  } catch {
    getSelection().selectAllChildren($("replay"));
  }
});

addDefinitions();
addZoom();
for (const party of PARTY_ORDER) addParty(party);
addLegend();
addControls();
show(step);
let resized = 0;
addEventListener("resize", () => {
  cancelAnimationFrame(resized);
  resized = requestAnimationFrame(layOut);
});
performance.mark("isoheap-drawn");
