/** Style sheets that are loaded with the pages that need them. Their names are in the page. */

const loading = new Map<string, Promise<unknown>>();

/** Adds a style sheet to the page once. @returns when it is loaded, or failed to load: without it, pages still work */
export function styleSheet(name: 'ask' | 'forms' | 'rest'): Promise<unknown> {
  let sheet = loading.get(name);
  if (!sheet) {
    sheet = new Promise((done) => {
      const link = document.createElement('link');
      link.rel = 'stylesheet';
      link.href = `app/${document.documentElement.dataset[`${name}Style`]}`;
      link.onload = link.onerror = done;
      document.head.append(link);
    });
    loading.set(name, sheet);
  }
  return sheet;
}
