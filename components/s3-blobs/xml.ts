/** The little XML that S3 stores speak: flat elements, without attributes that matter. */

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", '#34': '"' };

const unescaped = (value: string): string =>
  value.replace(/&(\w+|#34);/g, (all, name: string) => entities[name] ?? all);

/** The content of the first element of a name; `undefined` when there is none. */
export function firstValue(xml: string, name: string): string | undefined {
  const begin = xml.indexOf(`<${name}>`);
  const end = begin < 0 ? -1 : xml.indexOf(`</${name}>`, begin);
  return end < 0 ? undefined : unescaped(xml.slice(begin + name.length + 2, end));
}

/** The insides of all elements of a name, in order. */
export function* elementsOf(xml: string, name: string): Generator<string> {
  const [open, close] = [`<${name}>`, `</${name}>`];
  for (let at = xml.indexOf(open); at >= 0; at = xml.indexOf(open, at)) {
    const end = xml.indexOf(close, at);
    if (end < 0) return;
    yield xml.slice(at + open.length, end);
    at = end + close.length;
  }
}
