/** Style sheet of queries and results, which other pages do not need. Its name is in the page. */

/** Adds the style sheet to the page, and waits for it. Without it, queries still run. */
export const styles = new Promise<unknown>((done) => {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `app/${document.documentElement.dataset['askStyle']}`;
  link.onload = link.onerror = done;
  document.head.append(link);
});
