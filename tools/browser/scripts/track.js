// Runs in every document before the page's own scripts. Remembers what the page's elements do not show:
// who listens for the pointer, and which shadow roots are closed. Gives each element a number for life.
(() => {
  const KEY = Symbol.for("clew.tracker");
  if (window[KEY]) return;

  const POINTER_EVENTS = new Set([
    "click", "dblclick", "contextmenu", "mousedown", "mouseup", "pointerdown", "pointerup", "touchstart", "touchend",
    "mouseenter", "mouseover", "pointerenter", "pointerover", "dragstart", "drop",
  ]);
  const documents = new WeakMap();
  const numbers = new WeakMap();
  const elements = new Map();
  let last = 0;
  let changed = performance.now();
  const timer = window.setTimeout.bind(window);
  const observer = new MutationObserver(() => { changed = performance.now(); });

  const tracker = {
    listeners: new WeakSet(),
    roots: new WeakMap(),

    // How often a script may have put in HTML that declares shadow roots.
    declared: 0,

    // Identity of the current document: a window may outlive its document.
    token() {
      if (!documents.has(document)) {
        documents.set(document, Math.random().toString(36).slice(2));
        observer.observe(document, { childList: true, characterData: true, subtree: true });
      }
      return documents.get(document);
    },

    // Milliseconds since the last change of nodes or text.
    still() {
      return performance.now() - changed;
    },

    // The browser's own timer, whatever the page puts in its place.
    pause(milliseconds) {
      return new Promise((done) => timer(done, milliseconds));
    },

    number(element) {
      let number = numbers.get(element);
      if (number === undefined) {
        number = ++last;
        numbers.set(element, number);
        elements.set(number, new WeakRef(element));
      }
      return number;
    },

    element(number) {
      const element = elements.get(number)?.deref();
      if (!element?.isConnected) elements.delete(number);
      return element?.isConnected ? element : null;
    },

    shadow(element) {
      return element.shadowRoot || tracker.roots.get(element) || null;
    },
  };
  Object.defineProperty(window, KEY, { value: tracker });
  tracker.token();

  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function addEventListener(type, listener, options) {
    if (listener && POINTER_EVENTS.has(type) && this instanceof Element) tracker.listeners.add(this);
    return listen.call(this, type, listener, options);
  };

  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(options) {
    const root = attach.call(this, options);
    tracker.roots.set(this, root);
    return root;
  };

  for (const { prototype } of [Element, ShadowRoot]) {
    const put = prototype.setHTMLUnsafe;
    if (put) prototype.setHTMLUnsafe = function setHTMLUnsafe(...given) {
      tracker.declared++;
      return put.apply(this, given);
    };
  }
})();
