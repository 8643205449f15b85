// The page of one frame in reading order: [kind, …] items of text, elements, frames and scrollable boxes. Returned as
// JSON text, which Playwright passes on as it is: thousands of nested values cost it hundreds of milliseconds.
const SKIPPED = new Set(["script", "style", "noscript", "template", "head", "meta", "link", "title", "datalist"]);
const FRAMES = new Set(["iframe", "frame"]);
const LONGEST_TEXT = 3000;
const STRIDE = 40;
const NEW_LINE = 0, SAME_LINE = 1, NEXT_CELL = 2;
const SEEN = 0, NEAR = 1, FAR = 2;

function collect(options) {
  return JSON.stringify(look(options));
}

// Two looks in one visit, as a person would wait a moment: the second one, and whether it is equal to the first. A page
// that moves, has frames or stands in the background, where timers are slow, is looked at once.
async function collectTwice(options) {
  const first = look(options);
  const framed = first.items.some(([kind]) => kind === "frame");
  if (framed || document.hidden || first.ready === "loading" || first.still < options.rest) return JSON.stringify(first);
  await TRACKER.pause(options.pause);
  const second = look(options);
  const same = first.token === second.token && JSON.stringify(first.items) === JSON.stringify(second.items);
  return JSON.stringify({ ...second, same });
}

function look(options) {
  const items = [];
  const beyond = { above: 0, below: 0 };
  const margin = options.margin ?? 1e7;
  const scroller = document.scrollingElement ?? document.documentElement ?? document.createElement("html");
  const seen = meet([0, 0, innerWidth, innerHeight], options.region ?? [-1e7, -1e7, 1e7, 1e7]);
  const width = Math.max(innerWidth, scroller.scrollWidth - scrollX);
  const near = [-scrollX, seen[1] - margin, width, seen[3] + margin];
  let joint = NEW_LINE;

  const zone = (box, area) => (within(box, area.seen) ? SEEN : within(box, area.near) ? NEAR : FAR);
  const separate = (next) => { if (joint !== NEW_LINE) joint = next; };

  function text(node, place) {
    if (!/\S/.test(node.data)) return;
    const where = zone(boxOfText(node), place.area);
    if (where === FAR) return;
    const data = node.data.length > LONGEST_TEXT ? nearPart(node, place.area.near) : node.data;
    items.push(["text", clean(data).slice(0, LONGEST_TEXT), joint, place.inside, where]);
    joint = SAME_LINE;
  }

  // Of a long text, what lies between the top and the bottom of the area.
  function nearPart(node, area) {
    const start = firstOffset(node, (box) => box.bottom > area[1]);
    const end = firstOffset(node, (box) => box.top >= area[3]);
    return node.data.slice(start, Math.max(start + STRIDE, end));
  }

  function firstOffset(node, holds) {
    let [low, high] = [0, Math.ceil(node.data.length / STRIDE)];
    while (low < high) {
      const middle = (low + high) >> 1;
      range.setStart(node, middle * STRIDE);
      range.setEnd(node, Math.min((middle + 1) * STRIDE, node.data.length));
      if (holds(range.getBoundingClientRect())) high = middle;
      else low = middle + 1;
    }
    return low * STRIDE;
  }

  const range = document.createRange();
  function boxOfText(node) {
    range.selectNode(node);
    return edges(range.getBoundingClientRect());
  }

  function interactive(element, tag, reason, place) {
    const box = boxOf(element);
    if (box[2] - box[0] <= 0 || box[3] - box[1] <= 0) return place.inside;
    const where = zone(box, place.area);
    if (where === FAR) {
      if (box[1] >= place.area.seen[3]) beyond.below++;
      else if (box[3] <= place.area.seen[1]) beyond.above++;
      return place.inside;
    }
    const told = describe(element, tag, reason);
    if (place.inert) told.inert = true;
    else if (where === SEEN && !reachable(element, place.area.seen)) told.covered = true;
    if (tag === "canvas") told.box = box.map(Math.round).join(",");
    const number = TRACKER.number(element);
    items.push(["element", number, tag, told, place.inside, where]);
    joint = NEW_LINE;
    return number;
  }

  function frame(element, place) {
    const box = boxOf(element);
    const where = zone(box, place.area);
    if (where === FAR || box[2] - box[0] < 2 || box[3] - box[1] < 2) return;
    const left = box[0] + element.clientLeft, top = box[1] + element.clientTop;
    const region = meet(box, where === SEEN ? place.area.seen : place.area.near);
    const inner = [region[0] - left, region[1] - top, region[2] - left, region[3] - top];
    items.push(["frame", TRACKER.number(element), inner, [left, top], place.inside, where]);
    joint = NEW_LINE;
  }

  function scrollable(element, style, box, place) {
    if (!/auto|scroll/.test(style.overflowY) || element.scrollHeight <= element.clientHeight + 1) return;
    if (element === scroller || zone(box, place.area) !== SEEN) return;
    const below = element.scrollHeight - element.clientHeight - element.scrollTop;
    items.push(["scroll", TRACKER.number(element), Math.round(element.scrollTop), Math.round(below), place.inside, SEEN]);
    joint = NEW_LINE;
  }

  // Area for what an element holds. An absolute box escapes the clipping of boxes that are not its containing block.
  function areaOf(element, style, place) {
    if (style.position === "fixed") return { area: whole, absolute: whole };
    const area = style.position === "absolute" ? place.absolute : place.area;
    const clips = style.overflowX !== "visible" && style.display !== "inline" && element !== scroller
      && element !== document.body;
    const own = clips ? clipped(area, boxOf(element), style, margin) : area;
    return { area: own, absolute: style.position === "static" ? place.absolute : own };
  }

  function children(element, tag) {
    const root = TRACKER.shadow(element);
    if (root) return root.childNodes;
    if (tag === "slot") {
      const assigned = element.assignedNodes();
      if (assigned.length) return assigned;
    }
    if (tag === "details" && !element.open) return element.querySelectorAll(":scope > summary");
    return element.childNodes;
  }

  function visit(element, place) {
    const tag = element.localName;
    if (SKIPPED.has(tag)) return;
    if (tag === "br") return separate(NEW_LINE);
    const style = getComputedStyle(element);
    if (style.display === "none") return;
    const visible = style.visibility === "visible";
    const separator = style.display === "table-cell" ? NEXT_CELL : /^(inline|contents)/.test(style.display) ? null : NEW_LINE;
    if (separator !== null) separate(separator);
    const areas = areaOf(element, style, place);
    const here = { ...place, area: style.position === "static" ? place.area : positioned(style, place) };
    here.inert = place.inert || element.inert;
    if (FRAMES.has(tag)) {
      if (visible) frame(element, here);
      return;
    }
    const reason = visible ? why(element, tag, style, element.parentElement) : "";
    let inside = place.inside;
    if (reason) inside = interactive(element, tag, reason, here);
    else if (tag === "img" && visible) picture(element, here);
    if (areas.area !== place.area && visible) scrollable(element, style, boxOf(element), here);
    if (tag === "select" || tag === "textarea" || style.contentVisibility === "hidden") return;
    const inner = { ...here, ...areas, inside };
    for (const child of children(element, tag)) {
      if (child.nodeType === Node.TEXT_NODE) { if (visible) text(child, inner); }
      else if (child.nodeType === Node.ELEMENT_NODE) visit(child, inner);
    }
    if (separator !== null) separate(separator);
  }

  function positioned(style, place) {
    if (style.position === "fixed") return whole;
    return style.position === "absolute" ? place.absolute : place.area;
  }

  function picture(element, place) {
    const words = clean(element.alt);
    if (!words || zone(boxOf(element), place.area) === FAR) return;
    items.push(["text", `(image: ${words.slice(0, LONGEST)})`, joint, place.inside, zone(boxOf(element), place.area)]);
    joint = SAME_LINE;
  }

  const whole = { seen, near };
  if (document.documentElement) visit(document.documentElement, { area: whole, absolute: whole, inside: 0, inert: false });
  return {
    items,
    beyond,
    token: TRACKER.token(),
    declared: TRACKER.declared,
    still: TRACKER.still(),
    title: document.title,
    ready: document.readyState,
    scroll: [Math.round(scrollX), Math.round(scrollY)],
    page: [scroller.scrollWidth, scroller.scrollHeight],
    view: [innerWidth, innerHeight],
  };
}
