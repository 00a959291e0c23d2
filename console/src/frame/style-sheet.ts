/** Style sheets that are loaded with the pages that need them. The document contains their names. */

const loading = new Map<string, Promise<unknown>>();

/** Adds a style sheet to the page once. Resolves when it is loaded, or cannot be loaded: pages also work without it. */
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
