import { useEffect, useRef } from 'preact/hooks';
import { RecordAdImpression } from '../api/operations.js';
import { useAct } from '../hooks.js';

const recorded = new Set(); // impression tokens: each counts once
const tenths = Array.from({ length: 11 }, (_, i) => i / 10);

// Ad is an ad between posts. It counts as seen when half of it has been on the screen for a second;
// one that is too tall for that, when it has filled half of the screen.
export function Ad({ ad: { headline, body, imageUrl, clickUrl, impressionToken: token, advertiser, why } }) {
  const [record] = useAct(RecordAdImpression);
  const card = useRef(null);
  useEffect(() => {
    let timer;
    function onSeen() {
      if (!recorded.has(token)) record({ token });
      recorded.add(token);
    }
    const observer = new IntersectionObserver((entries) => {
      const { intersectionRatio, intersectionRect, rootBounds } = entries.at(-1);
      clearTimeout(timer);
      if (intersectionRatio >= 0.5 || intersectionRect.height >= rootBounds.height / 2) timer = setTimeout(onSeen, 1000);
    }, { threshold: tenths });
    observer.observe(card.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [token]);
  return (
    <aside class="ad card" ref={card} aria-label={`Ad by ${advertiser}`}>
      <p class="hint"><b>Ad</b> by <bdi>{advertiser}</bdi></p>
      <a class="link" href={clickUrl} rel="noreferrer nofollow sponsored" target="_blank"><bdi>{headline}</bdi></a>
      {body && <p dir="auto">{body}</p>}
      {imageUrl && <img class="photo" src={imageUrl} alt="" loading="lazy" />}
      <p class="hint">{why}</p>
    </aside>
  );
}
