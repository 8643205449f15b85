// Scrolling by pixels: of the page, or of the box in which an element or the middle of the page lies.
function scrollBy(options, element) {
  const start = element ?? document.elementFromPoint(innerWidth / 2, innerHeight / 2);
  const page = document.scrollingElement ?? document.documentElement;
  const amount = options.direction * (options.amount ?? innerHeight);
  const boxes = element ? [...scrollers(start), page] : [page, ...scrollers(start)];
  for (const box of boxes) {
    const before = box.scrollTop;
    box.scrollBy({ top: amount, behavior: "instant" });
    if (box.scrollTop !== before) return Math.round(box.scrollTop - before);
  }
  return 0;
}

function* scrollers(element) {
  for (let box = element; box; box = box.parentElement ?? box.getRootNode().host) {
    if (/auto|scroll/.test(getComputedStyle(box).overflowY) && box.scrollHeight > box.clientHeight) yield box;
  }
}

// Brings the smallest visible element that holds the text into view; false where there is none.
function scrollToText(options) {
  const wanted = clean(options.text).toLowerCase();
  const found = holding(document.documentElement, wanted);
  found?.scrollIntoView({ block: "center", behavior: "instant" });
  return Boolean(found);
}

function holding(element, wanted) {
  const root = TRACKER.shadow(element);
  for (const child of [...element.children, ...(root?.children ?? [])]) {
    const found = holding(child, wanted);
    if (found) return found;
  }
  const words = clean(element.innerText ?? element.textContent).toLowerCase();
  return words.includes(wanted) && element.checkVisibility() && element.tagName !== "SCRIPT" ? element : null;
}
