"use strict";
const $ = id => document.getElementById(id);
const shown = v => Number(v.toPrecision(5)).toString();
// width is a half-width in four digits, rounded up: a narrower band isn't what was guaranteed.
const width = w => {
  const unit = 10 ** (3 - Math.floor(Math.log10(w)));
  return shown(Math.ceil(w * unit * (1 - 1e-12)) / unit);
};
let token = "", model = null, asked = 0, saved = "";

function problem(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

// call asks the server; an answer that is none becomes an error with what it said.
async function call(path, options = {}) {
  if (token) options.headers = {...options.headers, Authorization: "Bearer " + token};
  const r = await fetch(path, options);
  if (r.ok) return r;
  const body = await r.json().catch(() => ({error: r.status + " " + r.statusText}));
  throw Object.assign(new Error(body.error), {status: r.status});
}

async function start() {
  // /v1/models would answer 401 where a token is needed, which a browser logs as an error.
  if (!token && (await (await fetch("healthz")).json()).token) {
    $("key").hidden = false;
    return;
  }
  const {models} = await (await call("v1/models")).json();
  $("key").hidden = true;
  problem("");
  $("model").replaceChildren(...models.map(name => new Option(name)));
  $("choose").hidden = models.length < 2;
  await show();
}

async function show() {
  model = await (await call("v1/model?model=" + encodeURIComponent($("model").value))).json();
  $("title").textContent = model.name + ": " + model.target + " from " + model.inputs.length + (model.inputs.length === 1 ? " input" : " inputs");
  const c = model.certificate;
  $("sentence").textContent = c ? model.sentence : "No certificate: " + model.certificate_reason + ".";
  $("sentence").className = c && c.valid ? "" : "none";
  const w = model.watch;
  $("watch").textContent = w ? model.watch_sentence : "";
  $("watch").hidden = !w;
  $("watch").className = w && w.alarm ? "alarm" : "";
  $("conditions").replaceChildren(...(c ? c.conditions : []).map(text => {
    const li = document.createElement("li");
    li.textContent = text;
    return li;
  }));
  $("inputs").replaceChildren(...model.inputs.map(input => {
    const label = document.createElement("label"), field = document.createElement(input.categories ? "select" : "input");
    if (input.categories) {
      field.append(...input.categories.map(name => new Option(name)));
    } else {
      field.inputMode = "decimal";
      field.required = !input.missing;
      field.value = shown(input.mean);
    }
    field.name = input.name;
    label.append(input.name, field);
    return label;
  }));
  for (const id of ["promise", "one", "many"]) $(id).hidden = false;
  $("table").hidden = true;
  await one();
}

// one predicts what stands in the fields.
async function one() {
  const row = {}, mine = ++asked;
  for (const field of $("inputs").elements) {
    if (field.matches("select")) {
      row[field.name] = field.value;
      continue;
    }
    const text = field.value.trim(), v = text === "" && !field.required ? null : Number(text);
    field.setCustomValidity(v === null || text !== "" && Number.isFinite(v) ? "" : "a number");
    if (!field.checkValidity()) {
      $("answer").hidden = true;
      return;
    }
    row[field.name] = v;
  }
  try {
    const r = await call("v1/predict", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({model: model.name, rows: [row]})});
    const p = (await r.json()).predictions[0];
    if (mine !== asked) return; // a later one is under way
    problem("");
    $("target").textContent = model.target;
    $("mean").textContent = shown(p.mean);
    $("interval").textContent = "The model's own belief, not certified: 95 % of observations between " + shown(p.lower95) + " and " + shown(p.upper95) +
      (latentSD(p) ? ", standard deviation of the function " + shown(latentSD(p)) : "") + "." +
      frame(p);
    band(p);
    $("answer").hidden = false;
  } catch (e) {
    $("answer").hidden = true;
    problem(e.message);
  }
}

// frame says what the frame about a prediction stands for: nothing where no row that the model was made
// from is like this one.
function frame(p) {
  if (p.outside) {
    return " " + (p.outside === 1 ? "An input lies" : p.outside + " inputs lie") + " outside the range of the rows that the model was made from" +
      (certified(p) ? ": the certificate says nothing here, and its frame is grey." : ".");
  }
  return certified(p) ? " The green frame is the certificate's ± " + width(certified(p)) + ", with the confidence and for the share said above." : "";
}

// latentSD is the function's standard deviation, or 0 where its square has left the range of
// numbers and doesn't tell it.
function latentSD(p) {
  return p.latent_variance > 1e-300 && p.latent_variance < Number.MAX_VALUE ? Math.sqrt(p.latent_variance) : 0;
}

// certified is the half-width of the band about a prediction that the certificate speaks of, or 0: where its loss is scaled it counts the model's
// own standard deviations there.
function certified(p) {
  const c = model.certificate;
  if (!c || !c.valid || !(c.mean_bound < 1)) return 0;
  if (c.loss === "scaled") return p.predictive_variance < Number.MAX_VALUE ? c.epsilon * Math.sqrt(p.predictive_variance) : 0;
  return c.loss === "band" ? c.epsilon_raw : 0;
}

function draw(svg, marks) {
  svg.replaceChildren(...marks.map(([name, attributes, text]) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    return e;
  }));
}

function band(p) {
  const half = Math.max(p.upper95 - p.mean, certified(p)) * 1.1 || 1;
  const x = v => 300 + 260 * (v - p.mean) / half, sd = latentSD(p), c = certified(p);
  const marks = [
    ["line", {x1: 10, x2: 590, y1: 30, y2: 30, class: "axis"}],
    ["rect", {x: x(p.lower95), width: x(p.upper95) - x(p.lower95), y: 14, height: 32, class: "area"}],
    ["circle", {cx: 300, cy: 30, r: 5, class: "dot"}],
    ["text", {x: x(p.lower95), y: 66, "text-anchor": "middle"}, shown(p.lower95)],
    ["text", {x: x(p.upper95), y: 66, "text-anchor": "middle"}, shown(p.upper95)],
  ];
  if (sd) marks.splice(2, 0, ["rect", {x: x(p.mean - 2 * sd), width: Math.max(x(p.mean + 2 * sd) - x(p.mean - 2 * sd), 1), y: 20, height: 20, class: "belief"}]);
  if (c) marks.push(["rect", {x: x(p.mean - c), width: x(p.mean + c) - x(p.mean - c), y: 8, height: 44, class: p.outside ? "certified void" : "certified"}]);
  draw($("band"), marks);
}

// many predicts a file.
async function many(file) {
  if (!file) return;
  try {
    const r = await call("v1/predict?model=" + encodeURIComponent(model.name), {method: "POST", headers: {"Content-Type": "text/csv", Accept: "application/json"}, body: file});
    const ps = (await r.json()).predictions, names = Object.keys(ps[0]), most = 200, out = ps.filter(p => p.outside).length;
    problem("");
    $("count").textContent = ps.length + (ps.length === 1 ? " row" : " rows") + " of " + file.name + (ps.length > most ? ", the first " + most + " of them below" : "") +
      (out ? "; " + out + " outside the range of the rows that the model was made from, grey in the chart: no guarantee is about them" : "");
    const line = (cells, tag) => {
      const tr = document.createElement("tr");
      tr.append(...cells.map(text => Object.assign(document.createElement(tag), {textContent: text})));
      return tr;
    };
    $("table").querySelector("thead").replaceChildren(line(["row", ...names], "th"));
    $("table").querySelector("tbody").replaceChildren(...ps.slice(0, most).map((p, i) => line([i + 1, ...names.map(n => shown(p[n]))], "td")));
    URL.revokeObjectURL(saved);
    saved = URL.createObjectURL(new Blob([names.join() + "\n" + ps.map(p => names.map(n => p[n]).join()).join("\n") + "\n"], {type: "text/csv"}));
    $("save").href = saved;
    chart(ps.slice(0, most));
    $("table").hidden = false;
  } catch (e) {
    $("table").hidden = true;
    problem(e.message);
  }
}

function chart(ps) {
  const low = Math.min(...ps.map(p => p.lower95)), high = Math.max(...ps.map(p => p.upper95));
  const x = i => ps.length === 1 ? 300 : 10 + 580 * i / (ps.length - 1), y = v => 166 - 132 * (v - low) / (high - low || 1);
  const at = (key, i) => x(i) + "," + y(ps[i][key]);
  const order = [...ps.keys()];
  draw($("chart"), [
    ["polygon", {points: [...order.map(i => at("lower95", i)), ...order.reverse().map(i => at("upper95", i))].join(" "), class: "area"}],
    ["polyline", {points: order.reverse().map(i => at("mean", i)).join(" "), class: "curve"}],
    ...ps.map((p, i) => ["circle", {cx: x(i), cy: y(p.mean), r: 2.5, class: p.outside ? "outside" : "dot"}]),
    ["text", {x: 10, y: 22}, shown(high)],
    ["text", {x: 10, y: 196}, shown(low)],
  ]);
}

const careful = f => async (...args) => {
  try {
    await f(...args);
  } catch (e) {
    if (e.status === 401) $("key").hidden = false;
    problem(e.message);
  }
};
$("key").addEventListener("submit", careful(async e => {
  e.preventDefault();
  token = $("token").value;
  await start();
}));
$("model").addEventListener("change", careful(show));
$("inputs").addEventListener("input", one);
$("inputs").addEventListener("submit", e => e.preventDefault());
$("file").addEventListener("change", () => many($("file").files[0]));
for (const kind of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(kind, e => {
    e.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") many(e.dataTransfer.files[0]);
  });
}
careful(start)();
