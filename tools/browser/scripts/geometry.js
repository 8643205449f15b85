// Where things are: boxes in CSS pixels of this frame's viewport, as [left, top, right, bottom].
const within = (box, area) => box[2] > area[0] && box[3] > area[1] && box[0] < area[2] && box[1] < area[3];
const meet = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];
const edges = (box) => [box.left, box.top, box.right, box.bottom];

// The box of an element; of its contents where it has none of its own (`display: contents`, only floats).
function boxOf(element) {
  const box = element.getBoundingClientRect();
  if ((box.width && box.height) || !element.firstChild) return edges(box);
  return boxOfContents(element);
}

function boxOfContents(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  return edges(range.getBoundingClientRect());
}

// The area that children of a clipping element show in: what is seen, and what scrolling it brings near.
function clipped(area, box, style, margin) {
  const scrolls = /auto|scroll/.test(style.overflowY);
  const room = scrolls ? [box[0], box[1] - margin, box[2], box[3] + margin] : box;
  return { seen: meet(area.seen, box), near: meet(area.near, room) };
}

function belongs(hit, element) {
  if (!hit || hit === element || element.contains(hit) || hit.contains(element)) return true;
  const host = element.getRootNode().host;
  if (host && hit === host) return true;
  return [...(element.labels ?? [])].some((label) => label.contains(hit)) || element.control === hit;
}

// The first of five points at which a click would reach the element, or null where something lies over all of them.
function reachable(element, seen) {
  const box = meet(boxOf(element), seen);
  const [width, height] = [box[2] - box[0], box[3] - box[1]];
  const root = element.getRootNode();
  const scope = root.elementFromPoint ? root : document;
  for (const [x, y] of [[0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.9], [0.9, 0.9]]) {
    const point = [box[0] + width * x, box[1] + height * y];
    if (belongs(scope.elementFromPoint(...point), element)) return point;
  }
  return null;
}
