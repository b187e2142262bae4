"use strict";
const $ = id => document.getElementById(id);
// plain writes a number to five digits as programs do. shown writes it for people: 12,346 and −1.5 × 10⁻⁷.
const plain = (v, digits = 5) => Number(v.toPrecision(digits)).toString();
const shown = (v, digits = 5) => {
  const a = Math.abs(v), sign = v < 0 ? "−" : "";
  if (a && (a < 1e-4 || a >= 1e15)) {
    const [number, power] = a.toExponential(digits - 1).split("e");
    return sign + Number(number) + " × 10" + [...String(Number(power))].map(c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
  }
  const text = plain(a, digits);
  return sign + (a < 1e4 ? text : text.replace(/^\d+/, digits => digits.replace(/\B(?=(\d{3})+$)/g, ",")));
};
// width writes a half-width to three digits, rounded up, since a narrower band isn't guaranteed. It doesn't round a number that somebody may have typed.
const width = w => {
  if (Number(w.toPrecision(6)) === w) return shown(w, 6);
  const unit = 10 ** (2 - Math.floor(Math.log10(w)));
  return shown(Math.ceil(w * unit * (1 - 1e-12)) / unit);
};
// percent writes the share of predictions that don't miss, rounded down.
const percent = bound => Math.floor(1000 - 1000 * bound + 1e-9) / 10 + " %";
const counted = (n, one, more) => (n < 1e4 ? n : shown(n)) + " " + (n === 1 ? one : more || one + "s");
const make = (tag, properties, ...children) => {
  const e = Object.assign(document.createElement(tag), properties);
  e.append(...children);
  return e;
};
// named writes a name as the certificate's sentences do. A long name is cut. A name is quoted if it isn't plain text on one line, or could be read as a sentence.
const named = name => {
  const letters = [...name], cut = letters.length > 60 ? letters.slice(0, 60).join("") + "…" : name;
  return /[\p{C}\p{Zl}\p{Zp}]|[.:] /u.test(cut) ? JSON.stringify(cut).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, c => "\\u{" + c.codePointAt(0).toString(16) + "}") : cut;
};
const day = 86400000;
let token = "", model = null, asked = 0, tables = 0, saved = "";

function say(id, text) {
  $(id).replaceChildren(...flagged(text));
  $(id).hidden = !text;
}
// flagged returns a text in which no line breaks within a flag, such as --epsilon.
const flagged = text => text.split(/(\B--[a-z][a-z-]*)/).map((part, i) => i % 2 ? make("span", {className: "flag", textContent: part}) : part);
const problem = text => say("problem", text);

// call sends a request and returns the response. If the server refuses, it throws an error with the server's words and the status.
async function call(path, options = {}) {
  if (token) options.headers = {...options.headers, Authorization: "Bearer " + token};
  let r;
  try {
    r = await fetch(path, options);
  } catch {
    throw new Error("The server doesn't answer: it was stopped, or can't be reached from here.");
  }
  if (r.ok) return r;
  const body = await r.json().catch(() => ({error: r.status + " " + r.statusText}));
  throw Object.assign(new Error(body.error), {status: r.status});
}

async function start() {
  // If a token is needed, /v1/models would answer 401, which a browser logs as an error.
  if (!token && (await (await call("healthz")).json()).token) {
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
  $("title").textContent = model.name + ": " + named(model.target) + " from " + counted(model.inputs.length, "input");
  const c = model.certificate;
  say("headline", c ? model.headline.split(named(model.target)).map(noted).join(named(model.target)) : "No certificate: " + model.certificate_reason + ".");
  $("headline").className = c && c.valid ? "" : "none";
  curve(c);
  say("sentence", c ? model.sentence : "");
  say("better", model.no_better || "");
  say("context", model.context_sentence || "");
  $("guarantee").hidden = !(c && c.valid);
  $("belief").textContent = model.classes ? "Probabilities" : "The 95 % intervals";
  const w = model.watch;
  say("alarm", w?.alarm ? model.watch_sentence : "");
  say("watch", w && !w.alarm ? model.watch_sentence : "");
  $("english").hidden = !decimalComma();
  $("conditions").replaceChildren(...(c ? c.conditions : []).map(text => make("li", {}, ...flagged(text))));
  const ranges = model.inputs.some(input => input.low !== undefined);
  $("begins").textContent = "Begins with usual values" + (ranges ? ". Outside the ranges nothing is guaranteed." : ".");
  $("inputs").replaceChildren(...model.inputs.map(fieldOf));
  const names = model.inputs.map(input => "“" + named(input.name) + "”");
  const compares = " With a column “" + named(model.target) + "” the predictions are compared with it.";
  $("needs").textContent = names.length > 12 ? "It needs a header with the names above; other columns, for example names, are shown and saved too." + compares :
    "It needs a header with " + (names.length > 1 ? names.slice(0, -1).join(", ") + " and " : "") + names.at(-1) + "; other columns, for example names, are shown and saved too." + compares;
  for (const id of ["promise", "one", "many", "more"]) $(id).hidden = false;
  tables++; // the answer for a table of another model, if it is still under way, is then ignored
  $("table").hidden = true;
  $("file").value = "";
  say("trouble", "");
  await one();
}

// fieldTypes says how fields write dates (say) and read them (days): the model gets days since 1970-01-01.
const fieldTypes = {
  date: {say: d => iso(d).slice(0, 10), days: text => Date.parse(text + "T00:00Z") / day},
  "datetime-local": {say: d => iso(d).slice(0, 16), days: text => Date.parse(text + "Z") / day},
  month: {say: d => iso(d).slice(0, 7), days: text => Date.parse(text + "-01T00:00Z") / day},
  time: {say: d => iso(d - Math.floor(d)).slice(11, 16), days: text => Date.parse("1970-01-01T" + text + "Z") / day},
};
const iso = days => {
  const at = new Date(Math.round(days * day));
  return isNaN(at) ? "" : at.toISOString();
};

function typeOf(input) {
  if (input.date === "time" || input.date === "month") return input.date;
  return Number.isInteger(input.low ?? 0) && Number.isInteger(input.high ?? 0) ? "date" : "datetime-local";
}

// valued writes a value of an input as the model's tables do.
function valued(input, v) {
  if (!input.date) return written(v);
  const text = fieldTypes[typeOf(input)].say(v).replace("T", " ");
  const order = {dmy: "$3.$2.$1", mdy: "$2/$3/$1"}[input.date];
  return (order ? text.replace(/^(\d+)-(\d\d)-(\d\d)/, order) : text) || shown(v);
}

// written writes a number as the model's tables do: to this number of decimals, or to five digits.
function written(v, places) {
  if (places !== undefined && Math.abs(v) >= 1e15) return shown(v);
  const text = places === undefined ? plain(v) : v.toFixed(places).replace(/^-(?=[0.]*$)/, "");
  const {decimal = ".", thousands = ""} = model.reading || {}, [whole, fraction] = text.split(".");
  const grouped = /^-?\d{4,}$/.test(whole) ? whole.replace(/\B(?=(\d{3})+$)/g, thousands) : whole;
  return fraction === undefined ? grouped : grouped + decimal + fraction;
}

// noted rewrites the numbers of a text of the certificate, which are written as in English, as the model's tables write numbers.
const noted = text => text.replace(/(?<=\d)[,.](?=\d)/g, mark => mark === "," ? model.reading?.thousands || "" : model.reading?.decimal || ".");

// placed returns how many decimals values of the target get: as many as the target's own values (own), but enough to show the standard deviation sd, and at most two more.
function placed(sd, own) {
  if (!(sd > 1e-15)) return undefined;
  const least = Math.max(0, Math.ceil(-Math.log10(sd)));
  return Math.min(Math.max(own ?? decimals(model.context?.constant?.value), least), least + 2);
}

// decimals returns how many decimals a number has; Infinity if there is no number.
const decimals = v => v === undefined ? Infinity : (/\.(\d+)$/.exec(String(v))?.[1] || "").length;

// readAs reads a number as the model's tables write it, with units and groups of digits, and returns it as programs write it; null if it isn't a number.
function readAs(text) {
  const {decimal = ".", thousands = "", units = []} = model.reading || {};
  let least = text;
  for (const unit of units) {
    const rests = [text.endsWith(unit) ? text.slice(0, -unit.length) : text, text.startsWith(unit) ? text.slice(unit.length) : text];
    for (const rest of rests) if (rest.length < least.length) least = rest;
  }
  const [whole, ...fractions] = least.trim().split(decimal);
  let groups = thousands ? whole.replace(/[\u00a0\u202f\u2009]/g, " ").replace(/’/g, "'").split(thousands) : [whole];
  if (groups.length > 1 && !(/^[+-]?[1-9]\d{0,2}$/.test(groups[0]) && groups.slice(1).every(group => /^\d{3}$/.test(group)))) return null;
  const bare = [groups.join(""), ...fractions];
  if (bare.length > 2 || decimal === "," && bare.some(part => part.includes("."))) return null;
  return numeral.test(bare.join(".")) ? bare.join(".") : null;
}
const numeral = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

// isMissing says whether a text stands for a missing value in the model's tables.
const isMissing = text => ["", "na", "n/a", "#n/a", "nan", "null", "?", ...(model.reading?.missing || []).map(t => t.toLowerCase())].includes(text.trim().toLowerCase());

// beginning returns the number that a field begins with: the most frequent value of a column of codes, and else the mean. A model of inducing inputs holds no rows to count.
// Then the mean is rounded if the column's ends are whole; between 0 and 1 only if the spread shows that the column has no other values.
function beginning({usual, mean, scale, low, high}) {
  if (usual !== undefined) return Number(usual);
  const spread = mean * (1 - mean), whole = model.inducing && Number.isInteger(low) && Number.isInteger(high) && (high - low > 1 || Math.abs(scale * scale - spread) < 0.01 * spread);
  return whole ? Math.round(mean) : mean;
}

function fieldOf(input, i) {
  const id = "input" + i, field = make(input.categories ? "select" : "input", {id, name: input.name});
  const hint = make("span", {className: "hint", id: id + "-hint"}), why = make("span", {className: "why", id: id + "-why", hidden: true});
  field.setAttribute("aria-describedby", hint.id + " " + why.id);
  if (input.categories) {
    field.append(...input.categories.map((name, k) => new Option(k === input.categories.length - 1 ? name + " (none of these)" : name, name)));
    field.value = input.usual ?? input.categories[0];
  } else if (input.date) {
    field.type = typeOf(input);
    field.value = fieldTypes[typeOf(input)].say(beginning(input));
  } else {
    field.inputMode = "decimal";
    field.value = written(beginning(input));
  }
  const parts = [];
  if (input.low !== undefined) parts.push("rows from " + valued(input, input.low) + " to " + valued(input, input.high));
  if (input.missing && !input.categories) parts.push("may be left empty");
  hint.textContent = hint.dataset.range = parts.join("; ");
  return make("div", {className: "field"}, make("label", {htmlFor: id, textContent: named(input.name)}), field, hint, why);
}

const decimalComma = () => model.reading?.decimal === ",";

// understood reads a typed number. If the text isn't a number, it returns why, and offers what may have been meant, written as in the model's tables.
function understood(text) {
  const {offers = [], ...read} = guessed(text);
  return {...read, offers: offers.map(offer => decimalComma() && numeral.test(offer) ? offer.replace(".", ",") : offer)};
}

function guessed(text) {
  text = text.trim().replace(/^[−–]/, "-");
  const number = numeral, comma = /^[+-]?\d*,\d+(e[+-]?\d+)?$/i;
  const bare = text.replace(/[\s'’]/g, ""), join = t => t.replace(/[.,]/g, "");
  const groups = mark => new RegExp("^[+-]?\\d{1,3}(\\" + mark + "\\d{3})+$").test(bare);
  const read = readAs(text);
  if (read === null && decimalComma() && /^[^,]*\.[^,]*$/.test(text) && number.test(text)) return {why: "Decimals have a comma here.", offers: [text]};
  text = read ?? text;
  if (number.test(text)) {
    const v = Number(text);
    return Number.isFinite(v) ? {v} : {why: "This number is too large for a computer."};
  }
  if (text === "") return {why: "A number is missing here."};
  if (bare !== text && (number.test(bare) || readAs(bare) !== null)) return {why: "Write the number without spaces or marks between its digits.", offers: [bare]};
  if (/^[+-]?\d{1,3},\d{3}$/.test(bare)) return {why: "Decimals have a point here, and thousands have no separator. Which do you mean?", offers: [bare.replace(",", "."), join(bare)]};
  if (comma.test(bare)) return {why: "Decimals have a point here.", offers: [bare.replace(",", ".")]};
  if (groups(",") || groups(".")) return {why: "Thousands have no separator here.", offers: [join(bare)]};
  const last = Math.max(bare.lastIndexOf(","), bare.lastIndexOf("."));
  if (/^[+-]?\d[\d.,]*$/.test(bare) && last > 0) {
    const meant = join(bare.slice(0, last)) + "." + bare.slice(last + 1);
    return {why: "Write one decimal point, and no separators of thousands.", offers: number.test(meant) ? [meant] : []};
  }
  const percent = /^(.*\d)\s*%$/.exec(text), unit = /^([+-]?[\d.,\s]*\d)\s*[^\d\s.,+-][^\d]*$/.exec(text) || /^[^\d\s.,+-]+\s*([\d.,\s]*\d)$/.exec(text);
  const inner = percent || unit ? understood((percent || unit)[1]) : {};
  const meant = inner.v !== undefined ? [(percent || unit)[1].trim()] : inner.offers || [];
  if (percent && meant.length) return {why: "Write only the number. Is it a share or a percentage?", offers: [...meant, ...(inner.v !== undefined ? [plain(inner.v / 100)] : [])]};
  if (unit && meant.length) return {why: "Write only the number, in the unit of the model's data.", offers: meant};
  return {why: "“" + text.slice(0, 40) + "” isn't a number: write it as " + written(4.5) + " or 1200."};
}

// valueOf reads a field: its value v, or why it can't be read.
function valueOf(input, field) {
  if (input.categories) return {v: field.value};
  if (!input.date) return input.missing && isMissing(field.value) ? {v: null} : understood(field.value);
  if (field.validity.badInput) return {why: "The date isn't complete yet."};
  if (field.value === "") return input.missing ? {v: null} : {why: "A date is missing here."};
  const v = fieldTypes[typeOf(input)].days(field.value);
  return Number.isFinite(v) ? {v} : {why: "Write this as " + fieldTypes[typeOf(input)].say(input.mean) + "."};
}

// explain says beside a field what is wrong with it, with buttons for what may have been meant.
function explain(input, field, {v, why, offers = []}) {
  const place = $(field.id + "-why"), hint = $(field.id + "-hint");
  field.setAttribute("aria-invalid", String(Boolean(why)));
  const beyond = typeof v === "number" && input.low !== undefined && !(input.low <= v && v <= input.high);
  hint.classList.toggle("beyond", beyond);
  hint.textContent = hint.dataset.range + (beyond ? ": this lies outside" : "");
  if (place.dataset.said === (why || "") + offers) return; // buttons that a pointer is on, and texts that are being read aloud, stay
  place.dataset.said = (why || "") + offers;
  say(place.id, why || "");
  place.parentNode.querySelectorAll(".offer").forEach(e => e.remove());
  place.after(...offers.map(text => {
    const offer = make("button", {type: "button", className: "offer", textContent: "Use " + text});
    offer.addEventListener("click", () => {
      field.value = text;
      field.focus();
      one();
    });
    return offer;
  }));
}

// one predicts the row in the fields.
async function one() {
  const row = {}, mine = ++asked, wrong = [];
  model.inputs.forEach((input, i) => {
    const field = $("input" + i), read = valueOf(input, field);
    explain(input, field, read);
    if (read.why) wrong.push(input.name);
    row[input.name] = read.v;
  });
  if (wrong.length) {
    $("answer").hidden = true;
    say("none", "No prediction: see the notes beside " + wrong.slice(0, 5).map(name => "“" + name + "”").join(", ") + (wrong.length > 5 ? " and others" : "") + ".");
    return;
  }
  try {
    const r = await call("v1/predict", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({model: model.name, rows: [row]})});
    const p = (await r.json()).predictions[0];
    if (mine !== asked) return; // a later request is under way
    problem("");
    say("none", "");
    const places = placed(p.predictive_sd);
    $("target").textContent = named(model.target);
    $("mean").textContent = model.classes ? named(p.label) : written(p.mean, places);
    $("interval").textContent = model.classes ? "The model's own belief, not certified: the probability is " + believed(p) + "." + frame(p) : "The model's own belief, not certified: 95 % of observations between " + written(p.lower95, places) + " and " + written(p.upper95, places) +
      (p.latent_sd ? ", standard deviation of the function " + written(Number(p.latent_sd.toPrecision(2))) : "") + "." +
      frame(p);
    band(p);
    $("answer").hidden = false;
  } catch (e) {
    if (mine !== asked) return;
    if (e.status === 401) $("key").hidden = false;
    $("answer").hidden = true;
    say("none", "No prediction: " + e.message);
  }
}

// frame says what the frame about a prediction means. It means nothing if the row lies outside the range of the model's rows.
function frame(p) {
  if (p.outside) {
    return " This row lies outside the range of the rows that the model was made from, in an input or farther from them than nearly all others" +
      (certified(p) ? ": the certificate says nothing here, and its frame is grey." : ".");
  }
  return certified(p) ? " The green frame is the certificate's ± " + noted(width(certified(p))) + ", which holds at least " + percent(foremost(model.certificate).bound) + " of predictions." : "";
}

// certified returns the half-width of the certificate's band about a prediction, or 0 if there is no band. With the loss scaled, the half-width counts the
// model's own standard deviations.
function certified(p) {
  const at = foremost(model.certificate);
  if (!at || model.certificate.loss === "relative") return 0;
  return model.certificate.loss === "scaled" ? at.half_width * p.predictive_sd : at.half_width_raw;
}

// foremost returns the point of the certificate's curve that the headline names, as krigo.Foremost does. Without a curve it is the declared width. It returns null if no width is guaranteed.
function foremost(c) {
  const points = c?.valid && c.curve?.points || [], share = c?.promise ? c.promise.share : 0.9, declared = {half_width: c?.epsilon, half_width_raw: c?.epsilon_raw, bound: c?.mean_bound};
  if (!points.length || !c.promise && c.mean_bound < 1 && c.epsilon !== 0.6) return c?.valid && c.mean_bound < 1 && ["band", "scaled", "relative"].includes(c.loss) ? declared : null;
  const at = points.find(p => p.bound <= 1 - share);
  return at ? {...at, bound: 1 - share} : points.at(-1);
}

// curve draws the share of predictions that is guaranteed by half-width. Grey dots are what the same rows guarantee for simple predictors at the declared width, each by itself.
function curve(c) {
  const points = c?.valid && c.curve?.points || [], svg = $("curve");
  svg.toggleAttribute("hidden", !points.length);
  if (!points.length) return;
  const main = foremost(c), {constant, linear} = model.context || {};
  const dots = [["linear model", linear], ["constant", constant]].filter(([, b]) => b && b.mean_bound < 1 && c.mean_bound < 1).sort(([, a], [, b]) => a.mean_bound - b.mean_bound);
  const least = Math.max(0, Math.min(points[0].bound < 0.5 ? 0.5 : 0, ...dots.map(([, b]) => Math.floor(9 - 10 * b.mean_bound) / 10))), most = Math.max(points.at(-1).half_width_raw, main.half_width_raw) * 1.03 || 1;
  const x = w => 76 + 514 * w / most, y = bound => 20 + 200 * bound / (1 - least), marks = [];
  for (let k = 10; k >= 10 * least - 1e-9; k -= least < 0.5 ? 2 : 1) marks.push(["line", {x1: 76, x2: 590, y1: y(1 - k / 10), y2: y(1 - k / 10), class: "axis"}], ["text", {x: 68, y: y(1 - k / 10) + 6, "text-anchor": "end"}, 10 * k + " %"]);
  const unit = 10 ** Math.floor(Math.log10(most / 3)), step = [5, 2, 1].map(k => k * unit).find(s => s <= most / 3);
  for (let k = 0; k * step <= 0.9 * most; k++) marks.push(["text", {x: x(k * step), y: 246, "text-anchor": "middle"}, shown(k * step)]);
  const at = points.flatMap((p, i) => [x(p.half_width_raw) + "," + y(i ? points[i - 1].bound : 1 - least), x(p.half_width_raw) + "," + y(p.bound)]);
  marks.push(["text", {x: 590, y: 274, "text-anchor": "end"}, "half-width" + (c.loss === "band" ? ", " + named(model.target) : "")],
    ["polyline", {points: [...at, "590," + y(points.at(-1).bound)].join(" "), class: "sure"}]);
  let taken = y(main.bound) + 24; // where the text before stands
  const side = w => x(w) > 330 ? {dx: -12, anchor: "end"} : {dx: 12, anchor: "start"};
  for (const [who, b] of dots) {
    const {dx, anchor} = side(c.epsilon_raw), line = Math.max(y(b.mean_bound) + 7, taken + 22);
    taken = line;
    marks.push(["circle", {cx: x(c.epsilon_raw), cy: y(b.mean_bound), r: 5, class: "other"}],
      ["text", {x: x(c.epsilon_raw) + dx, y: line, class: "halo", "text-anchor": anchor}, who + ": " + percent(b.mean_bound) + " within ±" + noted(width(c.epsilon_raw))]);
  }
  const {dx, anchor} = side(main.half_width_raw);
  marks.push(["circle", {cx: x(main.half_width_raw), cy: y(main.bound), r: 6, class: "at"}],
    ["text", {x: x(main.half_width_raw) + dx, y: y(main.bound) + 24, class: "named halo", "text-anchor": anchor}, percent(main.bound) + " within ±" + noted(width(main.half_width_raw))]);
  draw(svg, marks);
}

function draw(svg, marks) {
  svg.replaceChildren(...marks.map(([name, attributes, text]) => {
    const e = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    if (text !== undefined) e.textContent = text;
    return e;
  }));
}

// probabilitiesOf returns the probability of each class.
const probabilitiesOf = p => p.probabilities || [1 - p.mean, p.mean];

// believed lists the most probable classes with their probabilities.
function believed(p) {
  const all = probabilitiesOf(p), order = [...all.keys()].sort((i, k) => all[k] - all[i]), most = 5;
  return order.slice(0, most).map(k => written(all[k], 3) + " for " + named(model.classes[k])).join(", ") + (order.length > most ? " and less for others" : "");
}

// drawnOf returns the probability that the page draws: of the second of two classes, or of the label.
const drawnOf = p => p.probabilities ? Math.max(...p.probabilities) : p.mean;

// chances draws that probability as a part of a bar.
function chances(p) {
  draw($("band"), [["line", {x1: 10, x2: 590, y1: 30, y2: 30, class: "axis"}], ["rect", {x: 10, width: 580 * drawnOf(p), y: 14, height: 32, class: "belief"}],
    ["rect", {x: 10, width: 580, y: 14, height: 32, class: "area"}], ["text", {x: 10, y: 70}, "0"], ["text", {x: 590, y: 70, "text-anchor": "end"}, "1"]]);
}

function band(p) {
  if (model.classes) return chances(p);
  const half = Math.max(p.upper95 - p.mean, certified(p)) * 1.1 || 1;
  const x = v => 300 + 260 * (v - p.mean) / half, sd = p.latent_sd, c = certified(p);
  // Each text stays on its side of the middle, so that the texts of a narrow interval in a wide frame don't overlap.
  const places = placed(p.predictive_sd), low = written(p.lower95, places), high = written(p.upper95, places), room = 13 * Math.max(low.length, high.length);
  const marks = [
    ["line", {x1: 10, x2: 590, y1: 30, y2: 30, class: "axis"}],
    ["rect", {x: x(p.lower95), width: x(p.upper95) - x(p.lower95), y: 14, height: 32, class: "area"}],
    ["circle", {cx: 300, cy: 30, r: 5, class: "dot"}],
    ["text", {x: Math.min(Math.max(x(p.lower95) + room / 2, room), 292), y: 70, "text-anchor": "end"}, low],
    ["text", {x: Math.max(Math.min(x(p.upper95) - room / 2, 600 - room), 308), y: 70, "text-anchor": "start"}, high],
  ];
  if (sd) marks.splice(2, 0, ["rect", {x: x(p.mean - 2 * sd), width: Math.max(x(p.mean + 2 * sd) - x(p.mean - 2 * sd), 1), y: 20, height: 20, class: "belief"}]);
  if (c) marks.push(["rect", {x: x(p.mean - c), width: x(p.mean + c) - x(p.mean - c), y: 8, height: 44, class: p.outside ? "certified void" : "certified"}]);
  draw($("band"), marks);
}

// records splits CSV text into rows of cells, as the server does. The mark of the result separates cells.
function records(text) {
  text = text.replace(/^\ufeff/, "").replace(/^[\r\n]+/, "");
  let mark = ",", quoted = false;
  for (const c of text) { // look for a comma, semicolon or tab outside quotes in the first line
    if (c === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (c === "," && !decimalComma()) {
      mark = c;
      break;
    } else if (c === ";" || c === "\t" && mark !== ";") mark = c;
    else if (c === "\n") break;
  }
  const all = [];
  let record = [], cell = "";
  quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') cell += c;
      else if (text[i + 1] === '"') cell += text[++i];
      else quoted = false;
    } else if (c === '"' && cell.trim() === "") {
      quoted = true;
      cell = "";
    } else if (c === mark || c === "\n") {
      record.push(cell);
      cell = "";
      if (c === mark) continue;
      if (record.length > 1 || record[0].trim() !== "") all.push(record);
      record = [];
    } else if (c !== "\r") cell += c;
  }
  if (cell !== "" || record.length) all.push([...record, cell]);
  return Object.assign(all, {mark});
}

// filled removes the empty rows of a pasted table, which spreadsheets copy from below a table.
function filled(text) {
  const all = records(text), blank = row => row.every(cell => cell.trim() === "");
  if (!all.some(blank)) return text;
  const quoted = cell => cell.includes(all.mark) || /["\n\r]/.test(cell) ? '"' + cell.replaceAll('"', '""') + '"' : cell;
  return all.filter(row => !blank(row)).map(row => row.map(quoted).join(all.mark) + "\n").join("");
}

// many predicts a table, which is a file or pasted text.
async function many(body, name) {
  if (!body) return;
  const mine = ++tables;
  try {
    const all = records(typeof body === "string" ? body : await body.text()), [header = [], ...lines] = all;
    const target = header.findIndex(text => text.trim() === model.target), ask = more =>
      call("v1/predict?model=" + encodeURIComponent(model.name) + more, {method: "POST", headers: {"Content-Type": "text/csv", Accept: "application/json"}, body});
    let r, unread = "";
    if (target >= 0) r = await ask("&observed=true").catch(e => void (unread = e.message));
    const {predictions: every, observed} = await (r || await ask("")).json(), fits = lines.length === every.length && lines.every(row => row.length === header.length);
    // A row whose prediction overflows isn't shown.
    const there = every.flatMap((p, i) => p ? [i] : []), predictions = there.map(i => every[i]), rows = there.map(i => lines[i] ?? []), gone = every.findIndex(p => !p);
    if (mine !== tables) return;
    problem("");
    say("trouble", "");
    const several = model.classes?.length > 2; // then a prediction has no mean, and its columns are those of krigo predict
    const ps = several ? predictions.map(p => ({label: p.label, ...Object.fromEntries(p.probabilities.map((v, k) => ["probability_" + model.classes[k], v])), outside: p.outside})) : predictions;
    const drawn = predictions.map(drawnOf);
    const own = rows.slice(0, 1000).map(row => readAs(row[target]?.trim() ?? "")).filter(text => text !== null);
    const places = placed(Math.min(...ps.map(p => p.predictive_sd)), own.length ? Math.max(...own.map(decimals)) : undefined), tell = v => written(v, places);
    const missed = i => observed?.losses?.[i] === 1;
    const {classes} = model, wrong = observed?.losses?.filter(loss => loss === 1).length;
    const names = Object.keys(ps[0]), most = 200, out = ps.filter(p => p.outside).length, shownRows = ps.slice(0, most);
    // Columns that the model doesn't use are shown and saved too, each under a name that no other column has.
    const along = !fits ? [] : header.map((text, column) => ({column, name: text.trim()})).filter(c => !model.inputs.some(input => input.name === c.name));
    for (const c of along) if (names.includes(c.name)) c.name += " (of the table)";
    $("count").textContent = counted(ps.length, "row") + " of " + name + (ps.length > most ? ", the first " + most + " of them below" : "") +
      (out ? "; " + out + " outside the range of the rows that the model was made from, grey in the chart: no guarantee is about them" : "") +
      (gone < 0 ? "" : "; " + counted(every.length - ps.length, "row") + " not shown, since the prediction overflows, the first in row " + (gone + 1)) +
      (fits ? "" : ". The page couldn't split its lines, so its other columns aren't shown; predictions are in the order of its rows") + ".";
    const line = (tag, texts, cells) => make("tr", {}, ...texts.map(text => make(tag, {className: "text", textContent: text, title: text})), ...cells.map(text => make(tag, {textContent: text})));
    $("compared").className = observed?.contradicts ? "alarm" : "";
    say("compared", observed ? "Compared with " + named(model.target) + " in the table: " + (classes ? counted(wrong ?? 0, "wrong label") : "RMSE " + tell(observed.rmse) + ", MAE " + tell(observed.mae)) + ". " + observed.promise.split(named(model.target)).map(noted).join(named(model.target)) :
      unread && "Predictions aren't compared with " + named(model.target) + " in the table: " + unread);
    const few = along.filter(c => !observed || c.column !== target).slice(0, 20), columns = [...(observed ? [named(model.target) + ", observed"] : []),
      named(model.target) + ", predicted", ...(observed?.losses ? [classes ? "wrong" : "missed"] : []), ...(classes ? [several ? "its probability" : "probability of " + named(classes[1])] : ["95 % from", "to"]), "outside"];
    $("table").querySelector("thead").replaceChildren(line("th", few.map(c => c.name), columns));
    $("table").querySelector("thead tr").prepend(make("th", {textContent: "row"}));
    $("table").querySelector("tbody").replaceChildren(...shownRows.map((p, i) => {
      const tr = line("td", few.map(c => rows[i][c.column]), [...(observed ? [classes ? classes[observed.targets[i]] : tell(observed.targets[i])] : []), classes ? p.label : tell(p.mean),
        ...(observed?.losses ? [missed(i) ? classes ? "wrong" : "missed" : ""] : []), ...(classes ? [written(drawn[i], 3)] : [tell(p.lower95), tell(p.upper95)]), p.outside]);
      if (missed(i)) tr.classList.add("missed");
      tr.prepend(make("td", {textContent: there[i] + 1}));
      return tr;
    }));
    const quoted = text => text.includes(all.mark) || /["\n\r]/.test(text) || text !== text.trim() ? '"' + text.replaceAll('"', '""') + '"' : text;
    const number = v => quoted(typeof v === "string" ? v : String(v).replace(".", model.reading?.decimal || "."));
    URL.revokeObjectURL(saved);
    saved = URL.createObjectURL(new Blob([[...along.map(c => quoted(c.name)), ...names].join(all.mark) + "\n",
      ...ps.map((p, i) => [...along.map(c => quoted(rows[i][c.column])), ...names.map(n => number(p[n]))].join(all.mark) + "\n")], {type: "text/csv"}));
    $("save").href = saved;
    chart(classes ? shownRows.map((p, i) => ({...p, mean: drawn[i], lower95: drawn[i], upper95: drawn[i]})) : shownRows, fits ? axis(header, rows.slice(0, most)) : null, tell, observed);
    $("table").hidden = false;
  } catch (e) {
    if (mine !== tables) return;
    if (e.status === 401) $("key").hidden = false;
    $("table").hidden = true;
    say("trouble", "No predictions: " + e.message);
  }
}

// dated reads a date of a form with numbers, as days since 1970-01-01; NaN for other forms.
function dated(form, text) {
  const parts = /^(\d+)[-\/.](\d+)(?:[-\/.](\d+))?(?:[ T](\d+):(\d\d)(?::(\d\d))?)?$/.exec(text);
  const order = {ymd: [1, 2, 3], month: [1, 2, 3], dmy: [3, 2, 1], mdy: [3, 1, 2]}[form];
  if (!parts || !order || form !== "month" && !parts[3]) return NaN;
  const [year, month, date] = order.map(i => Number(parts[i] || 1));
  return year < 1000 ? NaN : Date.UTC(year, month - 1, date, Number(parts[4] || 0), Number(parts[5] || 0), Number(parts[6] || 0)) / day;
}

// axis returns the input along which the rows are drawn: the only input, or an input by which a table of more than two rows is sorted. It returns null if there is none.
function axis(header, rows) {
  const read = (input, text) => {
    text = text.trim();
    if (input.date) return dated(input.date, text);
    text = readAs(text);
    return text === null ? NaN : Number(text);
  };
  for (const input of model.inputs) {
    const column = header.findIndex(text => text.trim() === input.name);
    if (input.categories || column < 0) continue;
    const values = rows.map(row => read(input, row[column])), up = Math.sign(values.at(-1) - values[0]);
    const sorted = values.every((v, i) => i === 0 || up * (v - values[i - 1]) > 0);
    if (values.every(Number.isFinite) && new Set(values).size > 1 && (sorted && rows.length > 2 || model.inputs.length === 1)) return {input, values, sorted, texts: rows.map(row => row[column].trim())};
  }
  return null;
}

// chart draws a line along an axis. Without an axis it draws each row by itself, sorted by prediction, since a line from row to row would mean nothing.
// Observations, if there are any, are rings.
function chart(ps, along, tell, observed) {
  const seen = observed ? observed.targets.slice(0, ps.length) : [];
  const low = Math.min(...ps.map(p => p.lower95), ...seen), high = Math.max(...ps.map(p => p.upper95), ...seen);
  const order = [...ps.keys()].sort(along ? (i, k) => along.values[i] - along.values[k] : (i, k) => ps[i].mean - ps[k].mean);
  const place = along ? along.values : [];
  if (!along) order.forEach((i, rank) => place[i] = rank);
  const first = place[order[0]], last = place[order.at(-1)];
  const x = v => last > first ? 10 + 580 * (v - first) / (last - first) : 300, y = v => 162 - 128 * (v - low) / (high - low || 1);
  const at = (key, i) => x(place[i]) + "," + y(ps[i][key]);
  const marks = [["text", {x: 10, y: 20}, tell(high)], ["text", {x: 10, y: 190}, tell(low)]];
  let beyond = false;
  if (along) {
    const {input} = along;
    for (const [from, to] of input.low === undefined ? [] : [[first, Math.min(input.low, last)], [Math.max(input.high, first), last]]) {
      if (!(from < to)) continue;
      beyond = true;
      marks.unshift(["rect", {x: x(from), width: x(to) - x(from), y: 26, height: 144, class: "ground"}]);
    }
    marks.push(["polygon", {points: [...order.map(i => at("lower95", i)), ...[...order].reverse().map(i => at("upper95", i))].join(" "), class: "area"}],
      ["polyline", {points: order.map(i => at("mean", i)).join(" "), class: "curve"}],
      ["text", {x: 10, y: 218}, along.texts[order[0]]], ["text", {x: 590, y: 218, "text-anchor": "end"}, along.texts[order.at(-1)]]);
  } else {
    marks.push(...ps.map((p, i) => ["line", {x1: x(place[i]), x2: x(place[i]), y1: y(p.lower95), y2: y(p.upper95), class: p.outside ? "stem outside" : "stem"}]));
  }
  marks.push(...ps.map((p, i) => ["circle", {cx: x(place[i]), cy: y(p.mean), r: 2.5, class: p.outside ? "outside" : "dot"}]));
  marks.push(...seen.map((v, i) => ["circle", {cx: x(place[i]), cy: y(v), r: 4, class: observed.losses?.[i] === 1 ? "seen missed" : "seen"}]));
  draw($("chart"), marks);
  $("drawn").textContent = (along ? "Predictions along " + along.input.name + (along.sorted ? "" : ", by which the rows were sorted for this") :
    "A dot for each row" + (model.classes ? "" : " with its interval") + ", sorted by prediction: the table has no order of its own") +
    (model.classes ? ". Shown is the probability of " + (model.classes.length > 2 ? "the label" : named(model.classes[1])) + ", which the model believes in." : ". The intervals are the 95 % that the model believes in.") + (observed ? " Rings are what was observed" + (observed.losses ? ", red if the prediction missed it." : ".") : "") + (beyond ? " Grey ground lies outside the range of the rows that the model was made from." : "");
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
$("file").addEventListener("change", () => many($("file").files[0], $("file").files[0]?.name));
$("use").addEventListener("click", () => {
  if ($("pasted").value.trim()) return void many(filled($("pasted").value), "what was pasted");
  tables++; // the answer for an earlier table, if it is still under way, is then ignored
  $("table").hidden = true;
  say("trouble", "No predictions: paste a table above first, with its header.");
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  $("drop").addEventListener(kind, e => {
    e.preventDefault();
    $("drop").classList.toggle("over", kind === "dragover");
    const file = kind === "drop" && e.dataTransfer.files[0];
    if (file) many(file, file.name);
  });
}
careful(start)();
