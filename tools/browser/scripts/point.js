// A point of the element, from its top left corner, that nothing covers; else what covers its middle.
function point(options, element) {
  const box = boxOf(element);
  const whole = [0, 0, innerWidth, innerHeight];
  const found = reachable(element, whole);
  if (found) return { x: found[0] - box[0], y: found[1] - box[1] };
  const over = document.elementFromPoint((box[0] + box[2]) / 2, (box[1] + box[3]) / 2);
  return { over: over ? `<${over.localName}> ${cut(clean(over.innerText))}`.trim() : "something" };
}
