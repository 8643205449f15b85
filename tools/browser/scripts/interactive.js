// What a person could act on. `why(element, …)` gives the reason, or "" for plain content.
const TRACKER = window[Symbol.for("clew.tracker")];

const CONTROLS = new Set(["button", "input", "select", "textarea", "summary", "video", "audio"]);
const ROLES = new Set([
  "button", "link", "menuitem", "menuitemcheckbox", "menuitemradio", "option", "radio", "checkbox", "switch", "tab",
  "textbox", "combobox", "slider", "spinbutton", "searchbox", "treeitem", "gridcell", "scrollbar",
]);
const LISTS = new Set(["ul", "ol", "menu", "table", "tbody", "tr", "svg", "g"]);
const LIST_ITEMS = new Set([
  "li", "tr", "td", "th", "rect", "circle", "ellipse", "path", "polygon", "polyline", "line", "text", "image", "use",
]);

function listens(element) {
  if (TRACKER.listeners.has(element) || element.onclick || element.onmousedown || element.onpointerdown) return true;
  // React listens at its root and keeps an element's own handlers in a property of it.
  const key = Object.keys(element).find((name) => name.startsWith("__reactProps$"));
  const handlers = key && element[key];
  return Boolean(handlers && (handlers.onClick || handlers.onMouseDown || handlers.onPointerDown));
}

// A listener on a box around most of the page serves what is inside it.
function delegates(element, tag) {
  if (tag === "canvas" || tag === "svg" || !element.firstElementChild) return false;
  const box = element.getBoundingClientRect();
  return box.width * box.height > 0.8 * innerWidth * innerHeight;
}

function shown(element) {
  const box = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  return box.width > 1 && box.height > 1 && style.visibility === "visible" && style.opacity !== "0";
}

// A control that is styled away, with a label in its place that does the same.
function labelled(element) {
  return (element.labels?.length ?? 0) > 0 && !shown(element) && [...element.labels].some(shown);
}

function why(element, tag, style, parent) {
  if (tag === "html" || tag === "body" || tag === "option" || tag === "optgroup") return "";
  if (tag === "a" && element.hasAttribute("href")) return "link";
  if (tag === "area" && element.hasAttribute("href")) return "link";
  if (tag === "input" && (element.type === "hidden" || labelled(element))) return "";
  if (tag === "video" || tag === "audio") return element.controls ? "control" : listens(element) ? "listener" : "";
  if (CONTROLS.has(tag)) return "control";
  if (tag === "label") return element.control && !shown(element.control) ? "label" : "";
  if (ROLES.has(element.getAttribute("role"))) return "role";
  if (element.isContentEditable && !element.parentElement?.isContentEditable) return "editable";
  if (element.hasAttribute("tabindex") && element.tabIndex >= 0) return "focusable";
  if (listens(element) && !delegates(element, tag)) return "listener";
  if (element.getAttribute("draggable") === "true") return "draggable";
  if (LIST_ITEMS.has(tag) && parent && LISTS.has(parent.localName) && listens(parent)) return "delegated";
  if (style.cursor === "pointer" && (!parent || getComputedStyle(parent).cursor !== "pointer")) return "pointer";
  return "";
}
