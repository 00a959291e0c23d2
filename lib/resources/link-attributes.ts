/** The attributes of a link in a header field as members of an RFC 9264 target object. Pure. */

/** Those with one value (RFC 9264 4.2.4.1); all others are arrays, as they may be repeated. */
const single: ReadonlySet<string> = new Set(['type', 'media', 'title']);

/** The target attributes of a link, without `anchor`, which is no attribute of the target. */
export function targetAttributes(attributes: ReadonlyMap<string, string>): Readonly<Record<string, unknown>> {
  const members = [...attributes].filter(([name]) => name !== 'anchor' && name !== 'rev' && name !== 'href');
  return Object.fromEntries(members.map(([name, value]) => [name, memberOf(name, value)]));
}

function memberOf(name: string, value: string): unknown {
  if (single.has(name)) return value;
  return name.endsWith('*') ? value.split('\n').map(internationalized) : value.split('\n');
}

/** RFC 9264 4.2.4.2: `UTF-8'en'...` of RFC 8187 as value and language. */
function internationalized(value: string): object {
  const [, language = '', encoded = value] = /^utf-8'([^']*)'(.*)$/is.exec(value) ?? [];
  return { value: decoded(encoded), ...(language === '' ? {} : { language }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Not well-formed: kept as it was sent.
    return text;
  }
}
