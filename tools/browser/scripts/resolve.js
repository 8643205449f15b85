// The element of a number, or null where it is gone or the document is another one.
function resolve(options) {
  return TRACKER.token() === options.token ? TRACKER.element(options.number) : null;
}
