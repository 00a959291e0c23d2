/** Style sheet of forms, which other pages do not need. Its name is in the page. */

/** Adds the style sheet to the page, and waits for it. Without it, forms still work. */
export const formStyles = new Promise<unknown>((done) => {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = `app/${document.documentElement.dataset['formsStyle']}`;
  link.onload = link.onerror = done;
  document.head.append(link);
});
