/** Names, sizes and dates for display. */

/** Last part of an IRI, as a label. */
export function shortName(iri: string): string {
  if (/^did:key:/.test(iri)) return `${iri.slice(0, 14)}…${iri.slice(-6)}`;
  const name = /([^/#?]+)[/#]?$/.exec(iri.replace(/#(?:me|it|i|this)$/i, ''))?.[1] ?? iri;
  return decoded(name);
}

export const itemsText = (count: number): string => `${count.toLocaleString()} ${count === 1 ? 'item' : 'items'}`;

/** Items in a sentence. */
export const memberNames = (iris: readonly string[]): string =>
  iris.length === 1 ? `“${shortName(iris[0]!)}”` : itemsText(iris.length);

/** Decodes a percent-encoded name. Invalid UTF-8 stays encoded. */
export function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

const dates = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
export const dateText = (date: string | number): string => {
  const at = new Date(date);
  return Number.isNaN(at.getTime()) ? '' : dates.format(at);
};

/** Containers above an IRI of the storage, root first. */
export function ancestors(iri: string, storage: string): string[] {
  const segments = iri.slice(storage.length).split('/').slice(0, -1);
  return [storage, ...segments.map((_, at) => `${storage}${segments.slice(0, at + 1).join('/')}/`)];
}

export const isContainer = (iri: string): boolean => iri.endsWith('/');
/** Container of an IRI. The root's is itself. */
export const parentIri = (iri: string): string => iri.replace(/[^/]+\/?$/, '');
