const dialog = '[role=dialog]';

// returnFocus gives the focus back to the button that has opened a dialog, when the dialog closes: GraphiQL leaves it nowhere.
export function returnFocus() {
  let opener;
  document.addEventListener('focusin', ({ target }) => {
    if (!target.closest(dialog)) opener = target;
  });
  const closed = (node) => node.nodeType === Node.ELEMENT_NODE && (node.matches(dialog) || node.querySelector(dialog));
  new MutationObserver((changes) => {
    if (document.activeElement === document.body && changes.some(({ removedNodes }) => [...removedNodes].some(closed))) opener?.focus();
  }).observe(document.body, { childList: true });
}
