// The search of the site. It finds sections by their words, in sections.js, which is loaded when somebody begins to
// search. It fetches nothing, so it also works for a folder that is opened without a server.
"use strict";

const form = document.querySelector("form"), input = form.querySelector("input");
const list = document.getElementById("found"), count = form.querySelector(".count");
const most = 12; // results that are shown
let asked = false;
form.hidden = false;

// words splits a text into lower-case words. A word keeps its hyphens, such as mean-bound.
const words = text => text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_-]*/gu) || [];

// stem removes the s of a plural.
const stem = word => word.length > 3 ? word.replace(/s$/, "") : word;

// weigh returns how well a word fits texts of different weight: a whole word counts more than a beginning.
function weigh(word, texts) {
  let sum = 0;
  for (const [text, weight] of texts) {
    let whole = 0, begins = 0;
    for (const w of text) {
      if (stem(w) === word) whole++;
      else if (w.startsWith(word)) begins++;
    }
    sum += weight * (whole ? 1 + Math.log(whole) : begins ? .4 * (1 + Math.log(begins)) : 0);
  }
  return sum;
}

// rank returns the sections that have every word, the best first. Words in the name of a page or in a heading count
// most, and a rare word more than a frequent one.
function rank(query) {
  const all = sections.map(s => ({...s, score: 0, every: true}));
  for (const word of new Set(words(query).map(stem))) {
    const weights = all.map(s => {
      s.texts ||= [[words(s.Page + " " + (s.File.includes("#") ? "" : s.File)), s.File.includes("#") ? 3 : 9],
        [words(s.Title), 8], [words(s.Text), 1]];
      return weigh(word, s.texts);
    });
    const rare = Math.log(1 + all.length / (1 + weights.filter(w => w > 0).length));
    all.forEach((s, i) => { s.score += weights[i] * rare; s.every &&= weights[i] > 0; });
  }
  for (const s of all) {
    if (s.Shelf === "Behind") s.score /= 2;
    if (s.Title.toLowerCase().startsWith(query.toLowerCase())) s.score *= 2; // such as --inducing
  }
  return all.filter(s => s.every && s.score > 0).sort((a, b) => b.score - a.score);
}

// excerpt returns the text around the first word of the query.
function excerpt(text, query) {
  const lower = text.toLowerCase();
  const places = words(query).map(w => lower.indexOf(stem(w))).filter(at => at >= 0);
  const from = Math.max(0, Math.min(...places, text.length) - 40);
  const begin = places.length && from > 0 ? text.indexOf(" ", from) + 1 : 0;
  return (begin ? "… " : "") + text.slice(begin, begin + 140) + (begin + 140 < text.length ? " …" : "");
}

// show lists what the query finds.
function show() {
  const query = input.value.trim();
  list.replaceChildren();
  list.hidden = true;
  count.textContent = "";
  if (!query || typeof sections === "undefined") return;
  const found = rank(query);
  count.textContent = found.length ? `${found.length} found` : "nothing found";
  for (const s of found.slice(0, most)) {
    const item = document.createElement("li"), link = document.createElement("a");
    const title = document.createElement("strong"), where = document.createElement("span"), text = document.createElement("small");
    link.href = s.File;
    title.textContent = s.Title;
    where.textContent = [s.Shelf, s.Page].filter(Boolean).join(" › ");
    text.textContent = excerpt(s.Text, query);
    link.append(title, where, text);
    item.append(link);
    list.append(item);
  }
  list.hidden = found.length === 0;
}

// load adds the script with the sections, once.
function load() {
  if (asked) return;
  asked = true;
  const script = document.createElement("script");
  script.src = "sections.js";
  script.addEventListener("load", show);
  document.head.append(script);
}

function close() {
  list.hidden = true;
  count.textContent = "";
}

input.addEventListener("focus", () => { load(); show(); });
input.addEventListener("input", show);
form.addEventListener("submit", event => {
  event.preventDefault();
  list.querySelector("a")?.click();
});
form.addEventListener("focusout", event => { if (!form.contains(event.relatedTarget)) close(); });
list.addEventListener("click", close);
document.addEventListener("keydown", event => {
  if (event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey && event.target !== input) {
    event.preventDefault();
    input.focus();
    input.select();
  } else if (event.key === "Escape" && form.contains(event.target)) {
    input.value = "";
    input.focus();
    show();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && form.contains(event.target)) {
    const stops = [input, ...list.querySelectorAll("a")];
    const at = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    event.preventDefault();
    stops[Math.max(0, Math.min(at, stops.length - 1))].focus();
  }
});
