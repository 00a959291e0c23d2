/** Scrolling of rows of links or tabs on small screens. */

/** Sets `data-more` to the sides on which a row of links or tabs can scroll, for the style sheet. */
export function markEnds(row: Element): void {
  const { scrollLeft, scrollWidth, clientWidth } = row;
  const rest = scrollWidth - clientWidth - scrollLeft;
  const sides = `${scrollLeft > 1 ? 'start ' : ''}${rest > 1 ? 'end' : ''}`.trim();
  if (sides) row.setAttribute('data-more', sides);
  else row.removeAttribute('data-more');
}

/** Scrolls a row of tabs or links so that the given tab is fully visible, after the layout. Never scrolls the page. */
export function reveal(tab: Element | undefined): void {
  requestAnimationFrame(() => {
    const row = tab?.parentElement;
    if (!tab || !row) return;
    const [own, all] = [tab.getBoundingClientRect(), row.getBoundingClientRect()];
    row.scrollLeft += own.left + own.width / 2 - all.left - all.width / 2;
    markEnds(row);
  });
}
