/** Style sheet of all pages but the list of files, which is shown sooner without it. Its name is in the page. */

let loading: Promise<unknown> | undefined;

/** Adds the style sheet to the page once. @returns when it is loaded; without it, pages still work */
export function restStyles(): Promise<unknown> {
  loading ??= new Promise((done) => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = `app/${document.documentElement.dataset['restStyle']}`;
    link.onload = link.onerror = done;
    document.head.append(link);
  });
  return loading;
}
