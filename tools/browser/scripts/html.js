// The document as HTML with what its shadow roots hold and what its form controls say.
function html() {
  const roots = [];
  const gather = (node) => {
    for (const element of node.querySelectorAll("*")) {
      const root = TRACKER.shadow(element);
      if (root) {
        roots.push(root);
        gather(root);
      }
    }
  };
  gather(document);
  return document.documentElement.getHTML({ shadowRoots: roots, serializableShadowRoots: true });
}
