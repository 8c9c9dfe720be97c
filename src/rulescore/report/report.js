"use strict";
// The page is complete without this script: it adds the table of all rules, their pages, and the violations behind them.
// Names only ever become text nodes and attributes. `drawing.py` draws the same, with the same numbers.

const FIRST = 50, MORE = 100, CARDS = 20;
const KINDS = { h: "hard", s: "soft", u: "undetermined" };
const FEW = 10;
const find = (id) => document.getElementById(id);
const home = find("home"), rulePage = find("rule-page");
const framed = location.protocol === "about:"; // a notebook's frame, whose address is the notebook's
let rules = null, violations = null, order = [], shownRows = 0;

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

async function unpacked(id) {
  const text = atob(find(id).textContent);
  const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Numbers, as the program prints them.

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
const count = (number) => grouped(String(number));
const rate = (counts, number) => (Number(counts.evaluable[number]) ? counts.refuted[number] / counts.evaluable[number] : null);

function percent(share) {
  if (share > 0 && share < 0.0005) return "<0.1%";
  if (share < 1 && share >= 0.9995) return ">99.9%";
  return `${fixed(share * 100, 1)}%`;
}

// A tie, which only a number with few binary digits can be, goes to the even digit.
function fixed(value, digits) {
  const scaled = value * 10 ** digits;
  const isTie = Number.isInteger(value * 2 ** (digits + 1)) && scaled % 1 === 0.5;
  return (isTie ? (2 * Math.round(scaled / 2)) / 10 ** digits : value).toFixed(digits);
}

function significant(value) {
  if (value === 0) return "0";
  const rounded = Math.abs(Number(value.toExponential(2)));
  if (rounded < 1e-4) return value.toExponential(2).replace(/e-(\d)$/, "e-0$1");
  const [whole, digits] = fixed(value, Math.max(0, 2 - Math.floor(Math.log10(rounded)))).split(".");
  return digits === undefined ? grouped(whole) : `${grouped(whole)}.${digits}`;
}

const cell = (counts, number) =>
  Number(counts.evaluable[number]) ? `${count(counts.refuted[number])} of ${count(counts.evaluable[number])}` : "–";

function score(number, model) {
  const own = rules.by[model], kind = rules.kind[number];
  if (rules.marks[own.mark[number]] !== null) return rules.marks[own.mark[number]];
  if (kind === "h") return significant(Number(own.refuted[number]));
  const dataRate = rate(rules.data, number), modelRate = rate(own, number);
  if (kind === "u" || !dataRate || modelRate === null) return "–";
  return significant((own.refuted[number] * rules.data.evaluable[number]) / (own.evaluable[number] * rules.data.refuted[number]));
}

// The table of rules.

const said = (number) => rules.said[number] ?? rules.text[number];
const kindWords = (number) => KINDS[rules.kind[number]] + (rules.flags[number] & 1 ? ", never broken" : "");

function ruleLink(number, text) {
  return make("a", { href: `#rule=${number}`, class: "rule", "data-rule": number }, text);
}

function ruleRow(number) {
  const heading = make("th", { scope: "row" }, ruleLink(number, rules.name[number]));
  if (rules.own[number] === undefined) heading.append(make("br"), make("code", {}, said(number)));
  const names = ["the data", ...rules.models];
  const cells = [rules.data, ...rules.by].map((counts, column) => make("td", { class: "number", "data-label": names[column] }, cell(counts, number)));
  return make("tr", {}, heading, make("td", { "data-label": "kind" }, kindWords(number)), ...cells);
}

function showRows(from) {
  const body = find("rules-table").tBodies[0];
  const next = order.slice(from, from + (from ? MORE : FIRST)).map(ruleRow);
  if (from) body.append(...next);
  else body.replaceChildren(...next);
  shownRows = from + next.length;
  find("more-rules").hidden = shownRows >= order.length;
  find("rules-count").textContent = `${count(order.length)} of ${count(rules.name.length)} rules`;
}

let sortedBy = null, descending = true, words = null;

function choose() {
  const text = find("search").value.trim().toLowerCase(), kind = find("kind").value;
  words ??= rules.name.map((name, number) => `${name}\n${said(number)}\n${rules.text[number]}`.toLowerCase());
  order = [];
  for (let number = 0; number < words.length; number++)
    if ((!kind || rules.kind[number] === kind) && (!text || words[number].includes(text))) order.push(number);
  if (sortedBy !== null) order.sort(comparing(sortedBy));
  showRows(0);
}

function comparing(column) {
  const sign = descending ? -1 : 1;
  if (column === 0) return (one, other) => sign * (rules.name[one] < rules.name[other] ? -1 : 1);
  if (column === 1) return (one, other) => sign * (rules.kind[one] < rules.kind[other] ? -1 : 1) || one - other;
  const counts = [rules.data, ...rules.by][column - 2];
  return (one, other) => sign * (counts.refuted[one] - counts.refuted[other]) || counts.evaluable[other] - counts.evaluable[one];
}

function addSorting() {
  [...find("rules-table").tHead.rows[0].cells].forEach((heading, column) => {
    const button = make("button", { type: "button" }, ...heading.childNodes);
    button.addEventListener("click", () => {
      descending = sortedBy === column ? !descending : column > 1;
      sortedBy = column;
      for (const other of heading.parentNode.cells) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
      choose();
    });
    heading.replaceChildren(button);
  });
}

// Drawings. Every number here stands in `drawing.py` as well.

const WIDTH = 440, HALF = 15, LONGEST = 18, LONGEST_LABEL = 24, LETTER = 7.4, APART = 34, LOOP = 34, MARGIN = 8;
const LOOKS = {
  predicted: { stroke: "#b3320b", "stroke-width": "2.4", "stroke-dasharray": "7 5" },
  known: { stroke: "#1b1f24", "stroke-width": "1.5" },
  should: { stroke: "#0a53a8", "stroke-width": "2", "stroke-dasharray": "2 4" },
  against: { stroke: "#1b1f24", "stroke-width": "3.4" },
};
const SIGNS = { predicted: (name) => `${name} ?`, known: (name) => name, should: (name) => `⇒ ${name}`, against: (name) => name };

const n = (number) => String(Math.floor(number * 10 + 0.5) / 10);
const letters = (name) => [...name];
const short = (name, longest = LONGEST) => {
  const all = letters(name), half = longest / 2;
  return all.length <= longest ? name : `${all.slice(0, half).join("")}…${all.slice(1 - half).join("")}`;
};
const halfWidth = (name) => Math.max(18, (LETTER * letters(short(name)).length) / 2 + 11);

function places(nodes, placed) {
  const fixed = { 1: [[220, 150]], 2: [[80, 130], [360, 130]], 3: [[220, 45], [80, 215], [360, 215]] }[placed] ??
    Array.from({ length: placed }, (_, place) => {
      const turn = (2 * Math.PI * place) / placed;
      return [220 + 150 * Math.sin(turn), 150 - 105 * Math.cos(turn)];
    });
  const further = nodes.length - placed, below = Math.max(...fixed.map(([, y]) => y), placed ? 0 : 15) + 100;
  return [...fixed, ...Array.from({ length: further }, (_, place) => [(WIDTH * (place + 1)) / (further + 1), below])];
}

function clipped(centre, toward, half, gap) {
  const across = toward[0] - centre[0], down = toward[1] - centre[1];
  const share = Math.min(across ? (half + gap) / Math.abs(across) : Infinity, down ? (HALF + gap) / Math.abs(down) : Infinity, 1);
  return [centre[0] + share * across, centre[1] + share * down];
}

function head(arrow, from, tip) {
  let across = tip[0] - from[0], down = tip[1] - from[1];
  const length = Math.sqrt(across * across + down * down) || 1;
  across = (10 * across) / length;
  down = (10 * down) / length;
  const left = [tip[0] - across - down / 2.4, tip[1] - down + across / 2.4];
  const right = [tip[0] - across + down / 2.4, tip[1] - down - across / 2.4];
  const points = [tip, left, right].map(([x, y]) => `${n(x)},${n(y)}`).join(" ");
  return ["polygon", { class: `head ${arrow.part}`, points, fill: LOOKS[arrow.part].stroke }];
}

const path = (arrow, d) => ["path", { class: arrow.part, d, fill: "none", ...LOOKS[arrow.part] }];

function label(arrow, at) {
  const look = { fill: LOOKS[arrow.part].stroke, stroke: "#ffffff", "stroke-width": "5", "paint-order": "stroke" };
  const attributes = { class: `label ${arrow.part}`, x: n(at[0]), y: n(at[1] + 4), "text-anchor": "middle", ...look };
  return ["text", attributes, SIGNS[arrow.part](short(arrow.label, LONGEST_LABEL))];
}

function loop(arrow, [x, y], number) {
  const top = y - HALF - 2, wide = 14 + 8 * number, high = top - LOOP * number;
  const d = `M${n(x - 10)} ${n(top)} C${n(x - wide - 14)} ${n(high)} ${n(x + wide + 14)} ${n(high)} ${n(x + 10)} ${n(top - 2)}`;
  return [[path(arrow, d), head(arrow, [x + wide + 14, high], [x + 10, top - 2])], [x, top / 4 + (high * 3) / 4 - 9]];
}

function curve(arrow, [[x, y], [toX, toY]], halves, bend) {
  const length = Math.sqrt((toX - x) * (toX - x) + (toY - y) * (toY - y));
  const control = [(x + toX) / 2 - (2 * bend * (toY - y)) / length, (y + toY) / 2 + (2 * bend * (toX - x)) / length];
  const start = clipped([x, y], control, halves[0], 2), tip = clipped([toX, toY], control, halves[1], 4);
  const d = `M${n(start[0])} ${n(start[1])} Q${n(control[0])} ${n(control[1])} ${n(tip[0])} ${n(tip[1])}`;
  const at = [0, 1].map((axis) => start[axis] / 4 + control[axis] / 2 + tip[axis] / 4);
  return [[path(arrow, d), head(arrow, control, tip)], at];
}

function elements(nodes, placed, arrows) {
  const where = places(nodes, placed), pairs = arrows.filter((arrow) => arrow.ends.length === 2);
  const pairOf = (arrow) => [Math.min(...arrow.ends), Math.max(...arrow.ends)].join();
  const number = {}, seen = {}, drawn = [], labels = [];
  for (const arrow of pairs) number[pairOf(arrow)] = (number[pairOf(arrow)] ?? 0) + 1;
  for (const arrow of pairs) {
    const pair = pairOf(arrow), [from, to] = arrow.ends;
    seen[pair] = (seen[pair] ?? 0) + 1;
    const bend = (seen[pair] - 1 - (number[pair] - 1) / 2) * APART;
    const halves = arrow.ends.map((end) => halfWidth(nodes[end] ?? ""));
    const [parts, at] = from === to
      ? loop(arrow, where[from], seen[pair])
      : curve(arrow, arrow.ends.map((end) => where[end]), halves, from < to ? bend : -bend);
    drawn.push(...parts);
    labels.push(label(arrow, at));
  }
  drawn.push(...labels);
  nodes.forEach((name, place) => {
    if (name === null) return;
    const [x, y] = where[place], half = halfWidth(name);
    const box = { x: n(x - half), y: n(y - HALF), width: n(2 * half), height: n(2 * HALF), rx: "14" };
    drawn.push(["rect", { class: "node", fill: "#ffffff", stroke: "#1b1f24", "stroke-width": "1.4", ...box }]);
    drawn.push(["text", { class: "name", x: n(x), y: n(y + 4.5), "text-anchor": "middle" }, short(name)]);
  });
  const tags = {};
  for (const arrow of arrows) {
    if (arrow.ends.length !== 1) continue;
    const [end] = arrow.ends;
    tags[end] = (tags[end] ?? 0) + 1;
    drawn.push(label(arrow, [where[end][0], where[end][1] + HALF + 16 * tags[end]]));
  }
  return drawn;
}

function svg(attributes, parts) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  for (const [tag, own, text = ""] of parts) {
    const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(own)) part.setAttribute(name, value);
    part.textContent = text;
    made.append(part);
  }
  return made;
}

function drawing(nodes, placed, arrows, what) {
  if (!arrows.some((arrow) => arrow.ends.length === 2)) return null;
  const parts = elements(nodes, placed, arrows), { view, width, height } = fitted(parts);
  return svg({ class: "drawing", viewBox: view, width, height, role: "img", "aria-label": what }, parts);
}

// As high as its texts and nodes need, and as wide if the usual width is too little.
function fitted(parts) {
  const boxes = parts.flatMap(([tag, own, text = ""]) => {
    const x = Number(own.x), y = Number(own.y), half = (LETTER * letters(text).length) / 2;
    if (tag === "text") return [[x - half, y - 13, x + half, y + 5]];
    return tag === "rect" ? [[x, y, x + Number(own.width), y + Number(own.height)]] : [];
  });
  const side = (choose, place, ...other) => choose(...other, ...boxes.map((box) => box[place]));
  const left = Math.floor(side(Math.min, 0, 0)), top = Math.floor(side(Math.min, 1) - MARGIN);
  const width = Math.ceil(side(Math.max, 2, WIDTH)) - left, height = Math.ceil(side(Math.max, 3) + MARGIN) - top;
  return { view: `${left} ${top} ${width} ${height}`, width, height };
}

// The shape of a rule, from its text: its plain atoms and their variables, in the order of the text.

function shape(text) {
  if (/["']/.test(text)) return null;
  const [before, after = ""] = text.split(" <- ");
  const atoms = (part, name) =>
    [...part.matchAll(/(not )?(?:`([^`]+)`|([\p{L}_][\p{L}\p{N}_.:-]*))\(([^():]*)\)/gu)]
      .filter((found) => !found[1])
      .map((found) => ({ part: name, label: found[2] ?? found[3], terms: found[4].split(",").map((term) => term.trim()) }));
  const found = [...atoms(before, "should"), ...atoms(after, "known")];
  const isVariable = (term) => /^\p{Lu}/u.test(term);
  const terms = [...new Set(found.flatMap((atom) => atom.terms))].filter((term) => term !== "_");
  const variables = terms.filter(isVariable);
  const nodes = [...variables, ...terms.filter((term) => !isVariable(term))];
  const arrows = found
    .filter((atom) => atom.terms.length < 3 && !atom.terms.includes("_"))
    .map((atom) => ({ part: atom.part, label: lastPart(atom.label), ends: atom.terms.map((term) => nodes.indexOf(term)) }));
  return { nodes, placed: variables.length, arrows: [...arrows.filter((one) => one.part === "known"), ...arrows.filter((one) => one.part === "should")] };
}

const lastPart = (name) => rules.short?.[name] ?? name;

// One violation.

const patternOf = (row) => violations.patterns[violations.rows.pattern[row]];
const valuesOf = (row, places) => places.map((place) => violations.rows.values[row][place]);

function code(row, number) {
  const [predicate, names, ...places] = patternOf(row).atoms[number];
  const words = valuesOf(row, places).map((value, place) => {
    const name = violations.argument_names[names][place];
    return name === undefined ? violations.values[value] : `${name}: ${violations.values[value]}`;
  });
  return make("code", { title: violations.whole[predicate] }, `${violations.predicates[predicate]}(${words.join(", ")})`);
}

function sentence(row) {
  const parts = patternOf(row).sentence.map((piece) =>
    piece === -1 ? rules.models[violations.rows.model[row]] : typeof piece === "number" ? code(row, piece) : piece,
  );
  return make("p", { class: "sentence" }, ...parts, ".");
}

// What each fact of a violation is, and the numbers of these facts.
function partsOf(row) {
  const { predicted, known, absent, should, against } = patternOf(row);
  return [
    ...(predicted === null ? [] : [["predicted", predicted]]),
    ...known.map((number) => ["known", number]),
    ...absent.map((number) => ["not known", number]),
    ...(should === null ? [] : [["should hold", should]]),
    ...against.map((number) => ["but known", number]),
  ];
}

function facts(row) {
  const list = make("dl", { class: "facts" });
  for (const [word, number] of partsOf(row))
    list.append(make("div", {}, make("dt", { class: word.replace(" ", "-") }, word), make("dd", {}, code(row, number))));
  return list;
}

const DRAWN = { predicted: "predicted", known: "known", "should hold": "should", "but known": "against" };

function violationDrawing(row) {
  const { placed, atoms } = patternOf(row), where = new Map(), nodes = [], arrows = [];
  for (const value of violations.rows.values[row].slice(0, placed)) {
    const isNew = value !== null && !where.has(value);
    if (isNew) where.set(value, nodes.length);
    nodes.push(isNew ? violations.values[value] : null);
  }
  for (const [word, number] of partsOf(row)) {
    const [predicate, names, ...places] = atoms[number], name = violations.predicates[predicate];
    if (!DRAWN[word] || violations.argument_names[names].length || name.startsWith("not ") || !places.length || places.length > 2) continue;
    const values = valuesOf(row, places);
    for (const value of values)
      if (!where.has(value)) {
        where.set(value, nodes.length);
        nodes.push(violations.values[value]);
      }
    arrows.push({ part: DRAWN[word], label: name, ends: values.map((value) => where.get(value)) });
  }
  return drawing(nodes, placed, arrows, "The violation as a drawing; the list beside it says the same");
}

// The two sides of a comparison on a line: the band that the rule allows, and the margin by which it is missed.
function numberLine([left, right, text, operator, missed]) {
  const near = Math.min(left, right), far = Math.max(left, right);
  const low = near >= 0 && near < far - near ? 0 : near - (far - near) / 3, high = far + (far - low) / 8;
  const at = (value) => 30 + (380 * (value - low)) / (high - low || 1);
  const stretch = (kind, from, to, fill, y, tall) =>
    ["rect", { class: kind, x: n(at(from)), y: String(y), width: n(at(to) - at(from)), height: String(tall), fill }];
  const mark = (value) => ["rect", { class: "mark", x: n(at(value) - 1.5), y: "36", width: "3", height: "28", fill: "#1b1f24" }];
  const word = (value, y, what) => ["text", { class: "name", x: n(Math.min(Math.max(at(value), 70), 370)), y: String(y), "text-anchor": "middle" }, what];
  const parts = [stretch("track", low, high, "#d9dee4", 48, 4)];
  if (operator === "<" || operator === "<=") parts.push(stretch("allowed", low, right, "#0a53a8", 45, 10));
  if (operator === ">" || operator === ">=") parts.push(stretch("allowed", right, high, "#0a53a8", 45, 10));
  parts.push(stretch("share", near, far, "#b3320b", 47, 6), mark(left), mark(right));
  parts.push(word(left, 28, `is ${significant(left)}`), word(right, 84, `${operator ? `allowed ${operator}` : "against"} ${significant(right)}`));
  if (missed) parts.push(word((left + right) / 2, 104, missed));
  const tall = missed ? 112 : 92;
  return svg({ class: "drawing", viewBox: `0 0 ${WIDTH} ${tall}`, width: WIDTH, height: tall, role: "img", "aria-label": text }, parts);
}

function card(row) {
  const { rows } = violations, words = make("div", {}, sentence(row), facts(row));
  if (rows.lines[row].length) words.append(make("ul", {}, ...rows.lines[row].map((line) => make("li", {}, line))));
  const ranked = [
    ...(rows.score[row] === null ? [] : [`score ${rows.score[row]}`]),
    ...(rows.rank[row] === null ? [] : [`rank ${count(rows.rank[row])}`]),
  ];
  if (ranked.length) words.append(make("p", { class: "note" }, ranked.join(", ")));
  const drawn = rows.margin[row] === null ? violationDrawing(row) : numberLine(rows.margin[row]);
  return make("article", { class: "card violation" }, words, ...(drawn === null ? [] : [drawn]));
}

// A rule's page.

function why(number) {
  const reason = rules.reasons[rules.reason[number]].replace("\x01", cell(rules.data, number));
  const cases = Number(rules.data.evaluable[number]), kind = rules.kind[number];
  if (rules.flags[number] & 1) return `Hard, but nothing declared could ever refute it: its 0 says nothing.`;
  if (kind === "s") return `Soft: ${reason}, so a model is compared with how often the data break it.`;
  if (kind === "u") return `Undetermined: ${cases ? reason : "the data have no case of it that can be judged"}. It counts in no score.`;
  const bound = cases && !Number(rules.data.refuted[number]) && !(rules.flags[number] & 2);
  const most = bound ? ` With ${count(cases)} case${cases === 1 ? "" : "s"}, its true rate is at most ${percent(-Math.expm1(Math.log(0.05) / cases))} (95% confidence).` : "";
  return `Hard: ${reason}, so every violation counts.${most}`;
}

function bar(share, low, high, mark, scale, isData) {
  const wide = (part) => ((100 * part) / scale).toFixed(2);
  const parts = [
    ["rect", { class: "track", width: "100", height: "12", fill: "#d9dee4" }],
    ["rect", { class: isData ? "own" : "share", width: wide(share), height: "12", fill: isData ? "#57606a" : "#b3320b" }],
  ];
  if (low !== null) parts.push(["rect", { class: "interval", x: wide(low), y: "5", width: wide(high - low), height: "2", fill: "#1b1f24" }]);
  if (mark !== null) parts.push(["rect", { class: "mark", x: String(Math.min(99, 100 * (mark / scale))), width: "1", height: "12", fill: "#1b1f24" }]);
  return svg({ class: "bar", viewBox: "0 0 100 12", width: 190, height: 14, preserveAspectRatio: "none", "aria-hidden": "true" }, parts);
}

function whoTable(number) {
  const dataRate = rate(rules.data, number);
  const tops = rules.by.map((own) => Math.max(rate(own, number) ?? 0, own.high[number] ?? 0));
  const scale = [0.01, 0.05, 0.25, 0.5, 1].find((one) => one >= Math.max(dataRate ?? 0, ...tops));
  // Of a denial constraint all cases that can be judged are violations, so a share says nothing.
  const shares = !(rules.flags[number] & 2);
  const headings = [["who"], ["broken", "number"], ...(shares ? [["share", "number"], [`0 to ${scale * 100}%`]] : []),
    ...(rules.by.length ? [["score", "number"]] : [])];
  const row = (name, counts, low, high, last, isData) => {
    const share = rate(counts, number);
    const drawn = share === null ? "–" : bar(share, low, high, isData ? null : dataRate, scale, isData);
    const interval = low === null ? [] : [make("br"), make("span", { class: "counts" }, `${percent(low)} to ${percent(high)}`)];
    const cells = [[cell(counts, number)], ...(shares ? [[share === null ? "–" : percent(share), ...interval], [drawn]] : []),
      ...(rules.by.length ? [[last]] : [])];
    return make("tr", {}, make("th", { scope: "row" }, name),
      ...cells.map((inner, place) => make("td", { class: headings[place + 1][1] ?? "", "data-label": inner[0] === "" ? "" : headings[place + 1][0] }, ...inner)));
  };
  const heading = headings.map(([text, kind = ""]) => make("th", { scope: "col", class: kind }, text));
  const rows = [row("the data themselves", rules.data, null, null, "", true),
    ...rules.models.map((name, model) => row(name, rules.by[model], rules.by[model].low[number], rules.by[model].high[number], score(number, model), false))];
  const marks = rules.by.length && shares ? " The upright mark in a bar is the data’s own rate, the line the 95% interval." : "";
  const caption = `How often each breaks the rule, of the cases that can be judged.${marks}`;
  return make("div", { class: "wide", role: "region", "aria-label": "Who breaks this rule", tabindex: "0" },
    make("table", { class: "stacked" }, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heading)), make("tbody", {}, ...rows)));
}

function rulesDrawing(number) {
  const found = shape(rules.text[number]);
  const drawn = found && drawing(found.nodes, found.placed, found.arrows, "The rule as a drawing; its text says the same");
  if (!drawn) return [];
  return [make("figure", { class: "card" }, drawn, make("figcaption", { class: "note" }, found.arrows.some((arrow) => arrow.part === "should") ? "Thin: conditions. Dotted: what then should hold." : "Thin: conditions that never hold together."))];
}

const quoted = (word) => (/^[\w.\/:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

function further(number) {
  const name = quoted(rules.own[number] ?? rules.name[number]), command = find("command").textContent;
  const lines = (rules.further[number] ?? []).map((line) => make("li", {}, line));
  const refuting = rules.refuting[rules.refutes[number]] ?? [];
  if (refuting.length) lines.unshift(make("li", {}, "What refutes its head: ", ...refuting.flatMap((text, place) => [place ? ", " : "", make("code", {}, text)])));
  const list = lines.length ? [make("ul", {}, ...lines)] : [];
  const statement = rules.statements[number] === undefined ? [] : [make("pre", {}, rules.statements[number])];
  const exact = rules.said[number] === undefined ? [] : [make("pre", {}, rules.text[number])];
  const how = make("details", {}, make("summary", {}, "How it is counted, and all its rows"), ...exact,
    make("p", {}, make("code", {}, `${command} --rule ${name} --limit 1000000`)),
    make("p", {}, make("code", {}, `${command.replace("violations", "sql").replace(" --dataset", "")} --rule ${name}`)), ...statement);
  return [...list, how];
}

function notes(number) {
  const cases = Number(rules.data.evaluable[number]), said = [];
  if (rules.kind[number] === "h" && !(rules.flags[number] & 5) && cases && cases < FEW)
    said.push(`It rests on ${cases} case${cases === 1 ? "" : "s"} only: the data may just not have shown an exception.`);
  return said.map((text) => make("p", {}, make("strong", {}, text)));
}

const LINES = [["predicted", "Dashed: predicted."], ["known", "Thin: known."], ["should hold", "Dotted: what should then hold."],
  ["but known", "Thick: known, and against it."]];

function legend(rows) {
  const words = new Set(rows.flatMap((row) => partsOf(row).map(([word]) => word)));
  const onLine = rows.some((row) => violations.rows.margin[row] !== null);
  const said = onLine ? ["Thick and blue: what the rule allows. Red: by how much it is missed."] : LINES.filter(([word]) => words.has(word)).map(([, text]) => text);
  return rows.length ? [make("p", { class: "note" }, said.join(" "))] : [];
}

async function listViolations(number, place) {
  violations ??= await unpacked("violations-pack");
  const of = violations.rows.rule, every = [];
  for (let row = 0; row < of.length; row++) if (of[row] === number) every.push(row);
  const total = (rules.by.length ? rules.by : [rules.data]).reduce((sum, own) => sum + Number(own.refuted[number]), 0);
  const select = make("select", { id: "model" }, make("option", { value: "" }, "all models"),
    ...rules.models.map((name, model) => make("option", { value: model }, name)));
  const status = make("span", { role: "status", class: "note" }), list = make("div"), more = make("button", { type: "button" }, `${CARDS} more`);
  let chosen = every, shown = 0;
  const show = () => {
    list.append(...chosen.slice(shown, shown + CARDS).map(card));
    shown = Math.min(shown + CARDS, chosen.length);
    more.hidden = shown >= chosen.length;
  };
  const start = () => {
    chosen = select.value === "" ? every : every.filter((row) => violations.rows.model[row] === Number(select.value));
    shown = 0;
    list.replaceChildren();
    const all = select.value === "" ? total : Number(rules.by[select.value].refuted[number]);
    status.textContent = !all ? "There are none." : chosen.length < all ? `${count(chosen.length)} of ${count(all)} are in this file.`
      : all === 1 ? "There is one." : `All ${count(all)} are in this file.`;
    show();
  };
  select.addEventListener("change", start);
  more.addEventListener("click", show);
  start();
  const tools = rules.by.length > 1 ? [make("label", { for: "model" }, "By "), select, " "] : [];
  place.replaceChildren(make("p", {}, ...tools, status), ...legend(every), list, more);
}

function step(number, text) {
  return number < 0 || number >= rules.name.length ? make("span") : ruleLink(number, text);
}

async function showRule(number) {
  const kind = rules.kind[number], heading = make("h1", { tabindex: "-1", id: "rule-heading" }, rules.name[number], " ",
    make("span", { class: `kind ${kind}` }, kindWords(number)));
  const rows = make("div", { id: "rule-violations" });
  const back = make("a", { href: "#rules" }, "← all rules");
  const text = rules.name[number] === said(number) ? [] : [make("pre", {}, said(number))];
  const about = make("div", {}, ...text, make("p", {}, why(number)), ...notes(number), whoTable(number), ...further(number));
  rulePage.replaceChildren(
    make("div", { class: "steps" }, back, step(number - 1, "← previous"), step(number + 1, "next →")),
    heading, make("div", { class: "two" }, about, ...rulesDrawing(number)), make("h2", {}, "Violations"), rows);
  home.hidden = true;
  rulePage.hidden = false;
  document.title = rules.name[number];
  heading.focus();
  scrollTo(0, 0);
  await listViolations(number, rows);
  rulePage.dataset.shown = number;
}

const title = document.title;

function showHome(id) {
  rulePage.hidden = true;
  home.hidden = false;
  document.title = title;
  const target = find(id);
  if (!target || !home.contains(target)) return;
  target.scrollIntoView();
  target.focus({ preventScroll: true });
}

function route(address) {
  const found = /^#rule=(\d+)$/.exec(address);
  if (found && Number(found[1]) < rules.name.length) showRule(Number(found[1]));
  else showHome(address.slice(1));
}

document.addEventListener("click", (event) => {
  const link = event.target instanceof Element && event.target.closest('a[href^="#"]');
  if (!link || !rules || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const address = link.getAttribute("href");
  if (!framed) history.pushState(null, "", address);
  route(address);
});
addEventListener("popstate", () => rules && route(location.hash));

find("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).colorScheme === "light dark"
    ? matchMedia("(prefers-color-scheme: dark)").matches : document.documentElement.dataset.theme === "dark";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
});

async function start() {
  rules = await unpacked("rules-pack");
  order = rules.name.map((_, number) => number);
  addSorting();
  showRows(0);
  find("rules-note").textContent = "“2 of 30” means 2 violations in 30 cases that can be judged. A rule’s name leads to its page.";
  find("search").addEventListener("input", choose);
  find("kind").addEventListener("change", choose);
  find("more-rules").addEventListener("click", () => showRows(shownRows));
  find("rules-tools").hidden = false;
  find("theme").hidden = false;
  if (location.hash.startsWith("#rule=") && !framed) route(location.hash);
  document.documentElement.dataset.ready = "true";
  performance.mark("ready");
}

if ("DecompressionStream" in window) start();
