/** Texts of a resource that are not in its graph: content, name, and titles of links. */
import type { ClientLinks } from '../../../lib/resources/linkset.js';
import type { Blobs } from '../../../lib/storage/blobs/blobs.js';
import { blobFacts, nameOf, parentOf, type ResourceRecord } from '../../../lib/storage/keys/records.js';

/** Maximum indexed bytes of a text. Longer JSON documents are not indexed, because they cannot be parsed in part. */
const longestContent = 1 << 20;

/** Returns the name of a resource as words; empty for the root of an origin. */
export function nameText(iri: string): string {
  if (parentOf(iri).endsWith('//')) return '';
  const name = nameOf(iri).replace(/\/$/, '');
  let decoded = name;
  try {
    decoded = decodeURIComponent(name);
  } catch {
    // If a percent sign does not start an escape, index the name unchanged.
  }
  // These characters separate words in names, but join words in texts.
  return decoded.replace(/[._:\u0000]/g, ' ');
}

/** Returns the strings of a JSON value, one per line. Member names are not included. */
function stringsOf(value: unknown): string {
  const found: string[] = [];
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === 'string') found.push(next);
    else if (typeof next === 'object' && next !== null)
      for (const member of Object.values(next).reverse()) open.push(member);
  }
  return found.join('\n').replaceAll('\u0000', ' ');
}

/** Returns the titles of links and the strings in a linkset, one per line. */
export function titlesText(links: ClientLinks): string {
  const found: string[] = [];
  for (const value of Object.values(links).flat()) {
    if (typeof value === 'string') found.push(value);
    else if (typeof value === 'object' && value !== null)
      for (const [name, title] of Object.entries(value)) if (/^title\*?$/.test(name)) found.push(stringsOf(title));
  }
  return found.join('\n').replaceAll('\u0000', ' ');
}

const isJson = /^application\/(?:[^;]*\+)?json$/;

/** True if the content of a record is indexed. */
export const hasText = ({ kind, mediaType, blob }: ResourceRecord): boolean =>
  blob !== undefined && (kind === 'json' || mediaType.startsWith('text/'));

/**
 * Returns the text of a JSON or text resource: the first MiB of a text, the strings of a JSON document.
 * Empty for other resources.
 * @throws errors of `Blobs.read`
 */
export async function contentText(blobs: Blobs, record: ResourceRecord): Promise<string> {
  if (!hasText(record) || record.size === 0) return '';
  const isDocument = record.kind === 'json' || isJson.test(record.mediaType);
  if (isDocument && record.size > longestContent) return '';
  const chunks: Buffer[] = [];
  const end = Math.min(record.size, longestContent) - 1;
  for await (const chunk of await blobs.read(blobFacts(record), { start: 0, end })) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  if (!isDocument) return bytes.toString('utf8').replaceAll('\u0000', ' ');
  try {
    return stringsOf(JSON.parse(bytes.toString('utf8')));
  } catch {
    // The type is JSON, but the content is not valid JSON. This is possible after an import.
    return '';
  }
}
