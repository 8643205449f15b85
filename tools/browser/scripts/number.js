// The number of a frame's element in its parent document.
function number(options, element) {
  return TRACKER.number(element);
}
