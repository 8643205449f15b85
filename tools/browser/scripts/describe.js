// The attributes by which a model tells one element from another, in the order in which they are shown.
const PLAIN_ATTRIBUTES = ["type", "name", "placeholder", "title", "alt", "role", "accept", "min", "max", "step"];
const STATES = [
  "aria-expanded", "aria-selected", "aria-checked", "aria-pressed", "aria-current", "aria-disabled", "aria-haspopup",
  "aria-valuenow", "aria-invalid",
];
const SHAPE = ["fill", "stroke", "data-index"];
const LONGEST = 120;
const MOST_OPTIONS = 20;

const clean = (text) => (text || "").replace(/\s+/g, " ").trim();
const cut = (text) => (text.length > LONGEST ? text.slice(0, LONGEST - 1) + "…" : text);

function label(element) {
  const spoken = clean(element.getAttribute("aria-label"));
  if (spoken) return spoken;
  const root = element.getRootNode();
  const ids = clean(element.getAttribute("aria-labelledby")).split(" ").filter(Boolean);
  const named = ids.map((id) => root.getElementById?.(id)?.textContent ?? "").join(" ");
  if (clean(named)) return clean(named);
  return clean([...(element.labels ?? [])].map((each) => each.innerText ?? each.textContent).join(" "));
}

function address(element) {
  const href = element.getAttribute("href") ?? "";
  try {
    const url = new URL(href, document.baseURI);
    return url.origin === location.origin ? url.pathname + url.search + url.hash : url.href;
  } catch {
    return href;
  }
}

function describeValue(element, tag, told) {
  if (tag === "select") {
    const options = [...element.options];
    told.value = options.filter((option) => option.selected).map((option) => clean(option.text)).join(", ");
    told.options = options.slice(0, MOST_OPTIONS).map((option) => cut(clean(option.text))).join(" | ");
    if (options.length > MOST_OPTIONS) told.options += ` | … ${options.length - MOST_OPTIONS} more`;
    if (element.multiple) told.multiple = true;
  } else if (element.type === "checkbox" || element.type === "radio") {
    told.checked = element.checked;
  } else if (element.type === "password") {
    told.filled = element.value !== "";
  } else if (element.type === "file") {
    told.files = [...element.files].map((file) => file.name).join(", ");
  } else if (tag === "input" || tag === "textarea") {
    told.value = element.value;
  }
}

function describe(element, tag, reason) {
  const told = {};
  for (const name of PLAIN_ATTRIBUTES) if (element.hasAttribute(name)) told[name] = element.getAttribute(name);
  if (tag === "a" || tag === "area") told.href = address(element);
  const name = label(element);
  if (name && name !== clean(element.textContent)) told.label = name;
  if (tag === "input" || tag === "select" || tag === "textarea") describeValue(element, tag, told);
  if (reason === "label") describeValue(element.control, element.control.localName, told);
  if (reason === "editable") told.contenteditable = true;
  if (element.draggable && tag !== "a" && tag !== "img") told.draggable = true;
  for (const state of STATES) {
    if (element.hasAttribute(state)) told[state.replace("aria-", "")] = element.getAttribute(state);
  }
  if (tag === "summary") told.expanded = Boolean(element.parentElement?.open);
  for (const flag of ["disabled", "readOnly", "required"]) if (element[flag] === true) told[flag.toLowerCase()] = true;
  if (element.matches?.(":focus")) told.focused = true;
  if (element instanceof SVGElement) {
    for (const name of SHAPE) if (element.hasAttribute(name)) told[name] = element.getAttribute(name);
  }
  if (!clean(element.textContent) && !told.label && !told.placeholder && !told.alt && !told.title) {
    if (element.id) told.id = element.id;
    const classes = clean(element.getAttribute("class"));
    if (classes && !told.name) told.class = classes;
  }
  for (const key of Object.keys(told)) {
    if (typeof told[key] === "string") told[key] = cut(clean(told[key]));
    if (told[key] === "" && key !== "value") delete told[key];
  }
  return told;
}
