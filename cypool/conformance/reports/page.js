"use strict";
// Shows the cases that the filter lets through. The filter's whole state is the address behind the #, so that every link is a filter.
const DATA = JSON.parse(document.getElementById("data").textContent);
const STEP = 100;
const form = document.getElementById("filter");
const list = document.getElementById("list");
const more = document.getElementById("more");
const CONFORMS = new Set(DATA.conforms);
let found = [];
let drawn = 0;

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// --- the filter ---

function state() {
  return new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
}

function textMatcher(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = words.map((word) => {
    if (!/[*?]/.test(word)) return (id) => id.includes(word);
    const glob = word.replace(/[.+^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".");
    const pattern = new RegExp(`^${glob}$`);
    return (id) => pattern.test(id);
  });
  return (id) => tests.every((test) => test(id.toLowerCase()));
}

function asks(verdict) {
  if (verdict === "deviates") return (result) => !CONFORMS.has(result.verdict);
  return (result) => !verdict || result.verdict === verdict;
}

function select(parameters) {
  const get = (name) => parameters.get(name) ?? "";
  const matches = textMatcher(get("text"));
  const verdict = asks(get("verdict"));
  const column = DATA.runtimes.findIndex((runtime) => runtime.name === get("runtime"));
  const finding = parameters.has("finding") ? Number(get("finding")) : null;
  const wanted = (result) => result && verdict(result) && (finding === null || result.finding === finding);
  return DATA.cases.filter((item) =>
    (!get("case") || item.id === get("case")) &&
    (!get("version") || item.version === get("version")) &&
    (!get("op") || item.version.startsWith(`${get("op")}-`)) &&
    (!get("type") || item.type === get("type")) &&
    (!get("opset") || item.opset === Number(get("opset"))) &&
    (!get("variant") || item.variant === get("variant")) &&
    (!get("ruling") || item.rulings.includes(get("ruling"))) &&
    (!get("differ") || new Set(item.results.map((result) => result?.verdict)).size > 1) &&
    (column < 0 ? item.results.some(wanted) : wanted(item.results[column])) &&
    matches(item.id));
}

function ordered(cases, order, column) {
  const farthest = (item) => Math.max(...item.results.map((result, i) => (column < 0 || column === i) && result?.ulp != null ? result.ulp : -1));
  const keys = { elements: (item) => item.elements, ulp: (item) => -farthest(item) };
  return keys[order] ? cases.map((item) => [keys[order](item), item]).sort((a, b) => a[0] - b[0]).map((pair) => pair[1]) : cases;
}

// --- what is shown ---

// A tensor's excerpt, in rows of its last dimension that is more than 1, or of 8 where that is long. What differs from the other is marked.
function values([name, type, shape, start, text], other) {
  const last = shape.findLast((size) => size > 1) ?? 1;
  const width = last <= 16 ? last : 8;
  const elements = DATA.texts[text].split(" ").filter(Boolean);
  const others = other?.[3] === start ? DATA.texts[other[4]].split(" ") : elements;
  const column = (i) => (i + (last <= 16 ? start : 0)) % width;
  const widths = [];
  elements.forEach((value, i) => { widths[column(i)] = Math.max(widths[column(i)] ?? 0, value.length); });
  const pre = element("pre");
  if (start) pre.append("…\n");
  for (let i = 0; i < column(0); i++) pre.append(" ".repeat((widths[i] ?? 0) + 1));
  elements.forEach((value, i) => {
    if (i) pre.append(column(i) === 0 ? "\n" : " ");
    pre.append(" ".repeat(widths[column(i)] - value.length), others[i] === value ? value : element("mark", {}, value));
  });
  if (start + elements.length < shape.reduce((a, b) => a * b, 1)) pre.append(" …");
  return [element("h4", {}, `${name} ${type}[${shape.join(", ")}]`), pre];
}

function panel(title, tensors, expected = []) {
  return element("div", {}, element("h3", {}, ...title), ...tensors.flatMap((tensor, i) => values(tensor, expected[i])));
}

function chip(verdict, text = DATA.verdicts[verdict].word) {
  return element("span", { class: `chip ${DATA.verdicts[verdict].kind}` }, text);
}

function answer(item, result, runtime) {
  const box = panel([runtime.title, chip(result.verdict, result.verdict)], []);
  const finding = runtime.findings[result.finding];
  if (DATA.readings[finding]) box.append(element("p", {}, `${finding}. ${DATA.readings[finding]}`));
  if (result.message) box.append(element("p", { class: "message" }, DATA.texts[result.message]));
  if (result.ulp) box.append(element("p", {}, `${result.ulp.toLocaleString("en")} ULP off at most`));
  const asExpected = result.got.length && JSON.stringify(result.got) === JSON.stringify(item.expected);
  if (asExpected) box.append(element("p", {}, result.ulp ? "as expected, where it is shown" : "as expected"));
  else box.append(...result.got.flatMap((tensor, i) => values(tensor, item.expected[i])));
  if (result.stderr) box.append(element("h4", {}, "standard error"), element("pre", {}, DATA.texts[result.stderr]));
  return box;
}

function body(item) {
  const facts = [
    item.variant === "plain" ? "" : `model: ${item.variant}`,
    item.fault ? `invalid on purpose: ${item.fault}` : "",
    item.rulings.length ? `turns on: ${item.rulings.join(", ")}` : "",
    ...Object.entries(item.attributes).map(([name, value]) => `${name} = ${value}`),
  ];
  const panels = [panel(["given"], item.inputs)];
  if (item.expected.length) panels.push(panel(["expected"], item.expected));
  item.results.forEach((result, i) => { if (result) panels.push(answer(item, result, DATA.runtimes[i])); });
  const again = DATA.runtimes.filter((runtime, i) => item.results[i]).map((runtime) =>
    element("p", {}, "again: ", element("code", {}, `${runtime.command} -k '${item.id}'`)));
  return element("div", { class: "body" }, ...facts.filter(Boolean).map((fact) => element("p", {}, fact)), ...again, element("div", { class: "tensors" }, ...panels));
}

// An id that breaks after its slashes.
function parts(id) {
  return id.split("/").flatMap((part, i, all) => (i < all.length - 1 ? [element("span", {}, `${part}/`), element("wbr")] : [element("span", {}, part)]));
}

function row(item) {
  const answers = item.results.map((result, i) =>
    element("span", { class: "answer", "data-runtime": DATA.runtimes[i].name }, result ? chip(result.verdict) : "–"));
  const details = element("details", { class: "case" },
    element("summary", {}, element("span", { class: "id" }, ...parts(item.id)), element("span", { class: "answers" }, ...answers)));
  details.addEventListener("toggle", () => { if (details.open && !details.querySelector(".body")) details.append(body(item)); });
  return details;
}

function draw() {
  list.append(...found.slice(drawn, drawn + STEP).map(row));
  drawn = Math.min(found.length, drawn + STEP);
  more.hidden = drawn >= found.length;
}

// What the finding is called that the filter asks for; one without a name goes by its verdict.
function nameOf(parameters) {
  const i = DATA.runtimes.findIndex((runtime) => runtime.name === parameters.get("runtime"));
  return DATA.runtimes[i]?.findings[parameters.get("finding")] || found[0]?.results[i]?.verdict;
}

function about(parameters) {
  const notes = [`${found.length.toLocaleString("en")} of ${DATA.cases.length.toLocaleString("en")} cases`];
  for (const name of ["op", "case"]) if (parameters.has(name)) notes.push(`${name}: ${parameters.get(name)}`);
  if (parameters.has("finding")) notes.push(`of one finding: ${nameOf(parameters)}`);
  const shown = document.getElementById("shown");
  shown.replaceChildren(...notes.map((note) => element("span", {}, note)));
  if ([...parameters].length) shown.append(element("a", { href: "#cases=all" }, "show all"));
}

function show() {
  const parameters = state();
  for (const control of form.elements) {
    if (control.type === "checkbox") control.checked = parameters.has(control.name);
    else if (control.name && document.activeElement !== control) control.value = parameters.get(control.name) ?? "";
  }
  parameters.delete("cases");
  const column = DATA.runtimes.findIndex((runtime) => runtime.name === parameters.get("runtime"));
  found = ordered(select(parameters), parameters.get("order"), column);
  about(parameters);
  drawn = 0;
  list.replaceChildren(element("div", { class: "titles" }, element("span"), ...DATA.runtimes.map((runtime) => element("span", {}, runtime.title))));
  draw();
  if (parameters.has("case") && found.length) list.querySelector(".case").open = true;
}

// --- how it is used ---

// A choice between fewer than two is none, and is not shown.
function options(name, entries) {
  form.elements[name].closest("label").hidden = entries.length < 2;
  form.elements[name].append(element("option", { value: "" }, "any"), ...entries.map(([value, text]) => element("option", { value }, text)));
}

const seen = (pick) => [...new Set(DATA.cases.flatMap(pick))];
const verdicts = new Set(seen((item) => item.results.map((result) => result?.verdict)));
options("runtime", DATA.runtimes.map((runtime) => [runtime.name, runtime.title]));
options("verdict", [["deviates", "any that deviates"], ...Object.keys(DATA.verdicts).filter((verdict) => verdicts.has(verdict)).map((verdict) => [verdict, verdict])]);
options("version", seen((item) => item.version).map((version) => [version, version]));
options("type", seen((item) => item.type).map((type) => [type, type]));
options("opset", seen((item) => item.opset).sort((a, b) => a - b).map((opset) => [opset, opset]));
options("variant", seen((item) => item.variant).map((variant) => [variant, variant]));
options("ruling", seen((item) => item.rulings).sort().map((ruling) => [ruling, ruling]));
form.hidden = false;

form.addEventListener("input", (event) => {
  const parameters = state();
  for (const name of ["cases", "case", ...(event.target.name === "runtime" ? ["finding"] : [])]) parameters.delete(name);
  const given = new FormData(form);
  for (const { name } of form.elements) given.get(name) ? parameters.set(name, given.get(name)) : parameters.delete(name);
  history.replaceState(null, "", `#${parameters.size ? parameters : "cases=all"}`);
  show();
});
form.addEventListener("submit", (event) => event.preventDefault());
more.addEventListener("click", draw);
addEventListener("hashchange", () => {
  if (!location.hash.includes("=")) return;
  show();
  document.getElementById("cases").scrollIntoView();
});
show();
if (location.hash.includes("=")) document.getElementById("cases").scrollIntoView();
