/** Names, sizes and dates for display. */

/** Returns the last segment of an IRI, as a label. */
export function shortName(iri: string): string {
  if (/^did:key:/.test(iri)) return `${iri.slice(0, 14)}…${iri.slice(-6)}`;
  const name = /([^/#?]+)[/#]?$/.exec(iri.replace(/#(?:me|it|i|this)$/i, ''))?.[1] ?? iri;
  return decoded(name);
}

export const itemsText = (count: number): string => `${count.toLocaleString()} ${count === 1 ? 'item' : 'items'}`;

/** Returns the name of one item, or the count of several, for a sentence. */
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

const formats: ReadonlyMap<string, string> = new Map(
  `text/turtle=Turtle|application/n-triples=N-Triples|application/ld+json=JSON-LD|application/rdf+xml=RDF/XML|application/json=JSON|
  application/pdf=PDF|application/zip=ZIP|application/xml=XML|application/sparql-query=SPARQL query|text/markdown=Markdown|
  text/csv=Table (CSV)|text/tab-separated-values=Table (TSV)|text/html=Web page|text/plain=Text|image/svg+xml=Image (SVG)|
  application/octet-stream=File`
    .split(/\|\s*/)
    .map((each) => each.split('=') as [type: string, word: string]),
);

/** Returns a word for a media type, or the media type itself. */
export function formatName(mediaType: string): string {
  const essence = mediaType.replace(/;.*/, '').trim().toLowerCase();
  const [, group = '', name = ''] = /^(image|audio|video)\/(?:x-)?([\w.-]+)$/.exec(essence) ?? [];
  return (
    formats.get(essence) ?? (group ? `${group[0]!.toUpperCase()}${group.slice(1)} (${name.toUpperCase()})` : essence)
  );
}

const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
export function sizeText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1024 && unit < units.length - 1; unit++) value /= 1024;
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

const formatsOf = (timeStyle: 'short' | 'medium') => ({
  full: new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle }),
  time: new Intl.DateTimeFormat(undefined, { timeStyle }),
});
const dateFormats = { short: formatsOf('short'), medium: formatsOf('medium') };
const days = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' });

/** Returns a date with the time, for people. Today and yesterday are words. @param timeStyle `medium` for a time with seconds */
export const dateText = (date: string | number, timeStyle: keyof typeof dateFormats = 'short'): string => {
  const at = new Date(date);
  if (Number.isNaN(at.getTime())) return '';
  const back = [0, -1].find((offset) => daysFromNow(offset).toDateString() === at.toDateString());
  const { full, time } = dateFormats[timeStyle];
  return back === undefined ? full.format(at) : `${days.format(back, 'day')}, ${time.format(at)}`;
};

const daysFromNow = (count: number): Date => {
  const day = new Date();
  day.setDate(day.getDate() + count);
  return day;
};

/** Returns the containers above an IRI of the storage, root first. */
export function ancestors(iri: string, storage: string): string[] {
  const segments = iri.slice(storage.length).split('/').slice(0, -1);
  return [storage, ...segments.map((_, at) => `${storage}${segments.slice(0, at + 1).join('/')}/`)];
}

export const isContainer = (iri: string): boolean => iri.endsWith('/');
/** Returns the container of an IRI. For the root, returns the root. */
export const parentIri = (iri: string): string => iri.replace(/[^/]+\/?$/, '');
