// Labels drawn over the elements for one screenshot. `options.labels` maps element numbers to indices.
const LAYER = "clew-labels";

function draw(options) {
  const layer = document.createElement(LAYER);
  layer.style.cssText = "position:fixed;inset:0;z-index:2147483647;pointer-events:none";
  const root = layer.attachShadow({ mode: "closed" });
  for (const [number, index] of options.labels) {
    const element = TRACKER.element(number);
    if (element) root.append(...labelOf(boxOf(element), index));
  }
  document.documentElement.append(layer);
}

function labelOf([left, top, right, bottom], index) {
  const hue = (index * 47) % 360;
  const outline = document.createElement("div");
  outline.style.cssText = `position:fixed;left:${left}px;top:${top}px;width:${right - left}px;height:${bottom - top}px;`
    + `outline:2px solid hsl(${hue} 90% 40%)`;
  const label = document.createElement("div");
  label.textContent = index;
  label.style.cssText = `position:fixed;left:${Math.max(left, 0)}px;top:${Math.max(top - 14, 0)}px;padding:0 3px;`
    + `background:hsl(${hue} 90% 40%);color:#fff;font:bold 12px/14px sans-serif`;
  return [outline, label];
}

function erase() {
  for (const layer of document.querySelectorAll(LAYER)) layer.remove();
}
