import { html, type TemplateResult } from 'lit';
import { isContainer } from '../storage/names.js';

/** Kinds of files, by the media type or the name. */
const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['table', /^text\/(?:csv|tab-sep)|\.[ct]sv$/],
  ['image', /^image\/|\.(?:png|jpe?g|gif|svg|webp)$/],
  ['data', /turtle|n-triples|n-quads|trig|json|rdf|sparql|\.(?:ttl|nt|nq|trig|jsonld|json|rdf|rq|xml)$/],
  ['text', /^text\/|pdf|\.(?:md|txt|html?)$/],
];

/** Returns the icon of a folder or a file, in a colour of its kind. */
export function itemIcon(iri: string, mediaType?: string): TemplateResult {
  const isFolder = isContainer(iri);
  const kind = isFolder ? 'folder' : kinds.find(([, pattern]) => pattern.test(mediaType ?? iri))?.[0];
  return html`<svg class=${`icon ${kind ?? ''}`} viewBox="0 0 16 16" aria-hidden="true"><path d=${isFolder ? 'M1 3h5l2 2h7v9H1z' : 'M3 1h7l3 3v11H3z'} /></svg>`;
}
