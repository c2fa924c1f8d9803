// Where people are on a page when they arrive: at the top, or where they left it if they go back.
import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';

history.scrollRestoration = 'manual'; // browsers restore before the page is drawn

const left = new Map(); // where each page was left, by its path
let position = 0, isBack = false, last = null;
window.addEventListener('scroll', () => { position = window.scrollY; }, { passive: true });
window.addEventListener('popstate', () => { isBack = true; });
window.addEventListener('pushState', () => { isBack = false; }); // an event of the router

// useArrival moves the view and the focus when a page is drawn that is not the one before.
export function useArrival() {
  const [path] = useLocation();
  useLayoutEffect(() => {
    if (path !== last) {
      if (last !== null) document.getElementById('main').focus({ preventScroll: true });
      window.scrollTo(0, (isBack && left.get(path)) || 0);
      last = path;
    }
    return () => left.set(path, position);
  }, []);
}
