// SPDX-License-Identifier: MIT
// The recorded states, unpacked (docs/pictures.md has the shapes), and what differs in them.
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const PARTY_NAMES = data.parties.map(p => p[0]);
const MODEL = 2;
const YOUNG_WORDS = data.parties.map(p => p[2]); // behind those of the heap
const LIVE = 0, FREE = 1, FRAGMENT = 2, UNUSED = 3;
const CELLS = 16; // of a block in the graph; the last stands for all fields from there on
const COLOURS = ["white", "gray", "blue", "black"];
// One layout of everything, and for a large graph one of what is near the path.
function unpackLayout(packed) {
  const places = packed.nodes.map(([, , x, y, head, widths]) => x === undefined ? null
    : { x, y, head, widths, width: head + widths.reduce((a, b) => a + b, 0) });
  return { ...packed, places };
}
const layouts = { whole: unpackLayout(data.graph), near: data.near ? unpackLayout(data.near) : null };
const nodes = data.graph.nodes.map(([key, root], id) => ({ id, key, root: root === 1 }));
const nodeOfKey = new Map(nodes.map(n => [n.key, n.id]));

// ---- states

const unpacked = new Map();
function record(number) {
  let r = unpacked.get(number);
  if (!r) {
    const [node, extent, size, tag, colour, flags, packed] = data.records[number];
    const fields = [];
    for (const f of packed || []) {
      if (f.n) for (let i = 0; i < f.n; i++) fields.push(f.v);
      else fields.push(f);
    }
    r = { node, extent, size, tag, colour, fields, reachable: (flags & 1) === 1, isStatic: (flags & 2) === 2 };
    unpacked.set(number, r);
  }
  return r;
}

function rootKey(mutator, slot) {
  return mutator ? `${mutator}:r${slot}` : `r${slot}`;
}

// For each party a map from operation to {list, slots, remembered}; null where the heap cannot be walked.
const timeline = PARTY_NAMES.map(() => new Map());
{
  const last = PARTY_NAMES.map(() => ({ list: [], slots: [], remembered: [] }));
  for (const [party, op, from, gone, come, slots, remembered] of data.states) {
    if (from === undefined) {
      timeline[party].set(op, null);
      continue;
    }
    const before = last[party];
    const state = { list: before.list, slots: slots || before.slots, remembered: remembered || before.remembered };
    if (gone || come.length)
      state.list = [...before.list.slice(0, from), ...come, ...before.list.slice(from + gone)];
    last[party] = state;
    timeline[party].set(op, state);
  }
}

// Blocks with places, and what roots hold.  Made when somebody looks.
function unfold(state, party) {
  if (!state || state.blocks) return state;
  let at = 0;
  state.blocks = [];
  state.byNode = new Map();
  for (const number of state.list) {
    const r = record(number), words = r.extent === UNUSED ? r.size : r.size + 1;
    const block = { ...r, words, at: r.isStatic ? null : at, abstract: party === MODEL };
    if (!r.isStatic) at += words;
    if (r.node >= 0) state.byNode.set(r.node, block);
    state.blocks.push(block);
  }
  state.roots = new Map();
  for (const [mutator, slot, value] of state.slots) state.roots.set(rootKey(mutator, slot), value);
  state.fieldsRemembered = new Map(); // node -> fields
  for (const [node, field] of state.remembered) {
    if (!state.fieldsRemembered.has(node)) state.fieldsRemembered.set(node, new Set());
    state.fieldsRemembered.get(node).add(field);
  }
  state.words = at;
  return state;
}

// The operations that the slider stops at; the last may be one that never ended.
const steps = [...new Set(data.states.map(s => s[1]))].filter(
  op => op < data.ops.length || (data.verdict.failed && op === data.verdict.op));
if (data.verdict.failed && !steps.includes(data.verdict.op)) steps.push(data.verdict.op);
if (!steps.length) steps.push(-1);

function stateAt(party, step) {
  return step < 0 || step >= steps.length ? null : unfold(timeline[party].get(steps[step]) || null, party);
}

function titleOf(op) {
  if (op < 0) return "the initial heap";
  if (op >= data.ops.length) return "the checks after the script";
  return `operation ${op}: ${op === data.verdict.op && data.verdict.failed && data.verdict.operation || data.ops[op]}`;
}

// ---- words

const isLost = v => v !== undefined && v.at !== undefined && !Array.isArray(v) && typeof v === "object";
const isPointer = v => typeof v === "number" || Array.isArray(v);
const targetOf = v => typeof v === "number" ? v : Array.isArray(v) ? v[0] : -1;
const offsetOf = v => Array.isArray(v) ? v[1] : 0;
const same = (a, b) => targetOf(a) === targetOf(b) && offsetOf(a) === offsetOf(b) && (isPointer(a) || a === b);

function wordText(v) {
  if (isLost(v)) return `a pointer to word ${v.at}, where no block is`;
  if (!isPointer(v)) return v;
  return nodes[targetOf(v)].key + (offsetOf(v) ? "+" + offsetOf(v) : "");
}

function tagText(tag) {
  const names = { 246: "lazy", 247: "closure", 248: "object", 250: "forward", 251: "abstract", 252: "string",
    253: "double", 254: "double array", 255: "custom" };
  return names[tag] ? `${names[tag]}, tag ${tag}` : `tag ${tag}`;
}

function blockText(b) {
  const words = b.words === 1 ? "1 word" : `${b.words} words`;
  if (b.extent === FREE) return `free, ${words}`;
  if (b.extent === FRAGMENT) return "fragment, a header alone";
  if (b.extent === UNUSED) return `unused, ${words}`;
  const name = b.node >= 0 ? nodes[b.node].key : "a block without a name";
  return `${name}: ${tagText(b.tag)}, ${b.size === 1 ? "1 field" : b.size + " fields"}, ` +
    (b.reachable ? "reachable" : "unreachable") + (b.abstract ? "" : `, ${COLOURS[b.colour]}`);
}

// Where the young generation begins; the end of the heap, if there is none.
const youngFrom = party => YOUNG_WORDS[party] ? data.heap : Infinity;

const isYoung = (b, party) => b.at !== null && b.at >= youngFrom(party);

function placeText(b) {
  if (b.abstract) return "no place";
  if (b.isStatic) return "static";
  return b.words > 1 ? `words ${b.at} to ${b.at + b.words - 1}` : `word ${b.at}`;
}

// ---- the differing path

// "r0.1.0", "mutator 2: r0.1": the root's key and the fields; null if there is none.
const path = (() => {
  const found = /^(?:mutator (\d+): )?r(\d+)((?:\.\d+)*)/.exec(data.verdict.path);
  if (!found) return null;
  return { root: rootKey(Number(found[1] || 0), found[2]), fields: (found[3].match(/\d+/g) || []).map(Number) };
})();

// Follows the path in a state: {root, cells: Map(node -> field), end: node or -1, lost: a word of the heap or -1}.
function follow(state) {
  const marks = { root: null, cells: new Map(), end: -1, lost: -1 };
  if (!path || !state) return marks;
  marks.root = path.root;
  let value = state.roots.get(path.root), at = targetOf(value);
  for (const field of path.fields) {
    const block = state.byNode.get(at);
    if (!block) break;
    marks.cells.set(at, field);
    value = block.fields[field];
    if (!isPointer(value)) break;
    at = targetOf(value);
  }
  if (isLost(value)) marks.lost = value.at;
  marks.end = state.byNode.has(at) ? at : -1;
  return marks;
}

// ---- differences from the model

// {blocks: Map(node -> Set of fields, or "head"), missing: [node], roots: Set, count}
function differences(state, model) {
  const d = { blocks: new Map(), missing: [], roots: new Set(), count: 0 };
  if (!state || !model) return d;
  const note = (node, what) => {
    if (!d.blocks.has(node)) d.blocks.set(node, new Set());
    d.blocks.get(node).add(what);
    d.count++;
  };
  for (const [node, expected] of model.byNode) {
    if (!expected.reachable) continue;
    const found = state.byNode.get(node);
    if (!found) {
      d.missing.push(node);
      d.count++;
      continue;
    }
    if (found.tag !== expected.tag || found.size !== expected.size) note(node, "head");
    for (let f = 0; f < Math.min(found.size, expected.size); f++)
      if (!same(found.fields[f], expected.fields[f])) note(node, f);
  }
  for (const [node, found] of state.byNode)
    if (found.reachable && !model.byNode.has(node)) note(node, "head");
  for (const key of new Set([...model.roots.keys(), ...state.roots.keys()]))
    if (!same(state.roots.get(key), model.roots.get(key))) {
      d.roots.add(key);
      d.count++;
    }
  return d;
}
