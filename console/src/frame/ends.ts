/** Rows of links or tabs that scroll on a phone. */

/** Says on which sides a row of links or tabs can scroll (`data-more`), for the style sheet. */
export function markEnds(row: Element): void {
  const { scrollLeft, scrollWidth, clientWidth } = row;
  const rest = scrollWidth - clientWidth - scrollLeft;
  const sides = `${scrollLeft > 1 ? 'start ' : ''}${rest > 1 ? 'end' : ''}`.trim();
  if (sides) row.setAttribute('data-more', sides);
  else row.removeAttribute('data-more');
}

/** Scrolls a row of tabs or links so that one of them is wholly in sight, once it is laid out. Never scrolls the page. */
export function reveal(tab: Element | undefined): void {
  requestAnimationFrame(() => {
    const row = tab?.parentElement;
    if (!tab || !row) return;
    const [own, all] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += own.left + own.width / 2 - all.left - all.width / 2;
    markEnds(row);
  });
}
