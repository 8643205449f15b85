// What kind of text an element takes, and what it holds.
function field(options, element) {
  const target = element.localName === "label" ? element.control ?? element : element;
  return {
    tag: target.localName,
    type: target.type ?? "",
    editable: target.isContentEditable,
    disabled: target.disabled === true,
    readonly: target.readOnly === true,
    multiple: target.multiple === true,
    value: target.type === "password" ? "" : target.value ?? target.innerText ?? "",
  };
}

const ITEMS = "[role=option], [role=menuitem], [role=menuitemradio], [role=menuitemcheckbox], [role=treeitem]";

// What a list offers: a <select>, a field with suggestions, or a list or menu made of other elements.
function optionsOf(options, element) {
  const list = element.localName === "select" ? element.options : element.list?.options;
  if (!list) return items(element).length ? items(element).map(itemAsOption) : null;
  return [...list].map((option) => ({
    text: clean(option.text || option.label || option.value),
    value: option.value,
    selected: option.selected === true,
    disabled: option.disabled === true || option.parentElement?.disabled === true,
  }));
}

function items(element) {
  const root = element.getRootNode();
  const ids = ["aria-controls", "aria-owns"].flatMap((name) => clean(element.getAttribute(name)).split(" "));
  const lists = [element, ...ids.filter(Boolean).map((id) => root.getElementById?.(id)).filter(Boolean)];
  return lists.flatMap((list) => [...list.querySelectorAll(ITEMS)]);
}

function itemAsOption(item) {
  return {
    text: clean(item.textContent),
    value: item.getAttribute("data-value") ?? clean(item.textContent),
    selected: item.getAttribute("aria-selected") === "true" || item.getAttribute("aria-checked") === "true",
    disabled: item.getAttribute("aria-disabled") === "true",
  };
}

function itemOf(options, element) {
  return items(element)[options.place];
}
