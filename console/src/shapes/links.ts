/** Links of a resource to shape documents, and the violations that the server reports. */

import { linkTarget, linkTargets, succeed } from '../storage/api.js';
import { linksetView, type Relation } from '../storage/linkset.js';

export const constrainedBy = 'http://www.w3.org/ns/ldp#constrainedBy';

/** Returns the readable shape documents that apply to a resource, or to new members of a container. */
export const shapesInForce = async (iri: string): Promise<readonly string[]> =>
  linkTargets(await succeed('HEAD', iri), constrainedBy, iri);

/** Client-managed links of a resource. */
export interface ShapeLinks {
  readonly iri: string;
  /** URL and content of the linkset. */
  readonly linkset: string;
  readonly text: string;
  readonly etag: string;
  /** Links from the resource itself to shape documents. */
  readonly own: readonly (Relation & { readonly shapes: string })[];
}

/** Returns the links of a resource, or `undefined` if the resource has no linkset. */
export async function readLinks(iri: string): Promise<ShapeLinks | undefined> {
  const linkset = linkTarget(await succeed('HEAD', iri), 'linkset', iri);
  if (linkset === undefined) return undefined;
  const response = await succeed('GET', linkset, { headers: { Accept: 'application/linkset+json' } });
  const text = await response.text();
  const own = linksetView(text).relations.flatMap((each) =>
    each.name === constrainedBy && each.target && URL.canParse(each.target.href, iri)
      ? { ...each, shapes: new URL(each.target.href, iri).href }
      : [],
  );
  return { iri, linkset, text, etag: response.headers.get('ETag') ?? '', own };
}

/** @param isLenient true to save even if existing resources violate the shapes @throws Refusal, with these `resources` */
export async function saveLinks({ linkset, etag }: ShapeLinks, body: string, isLenient = false): Promise<void> {
  const headers = { 'Content-Type': 'application/linkset+json', 'If-Match': etag };
  await succeed('PUT', linkset, { headers: isLenient ? { ...headers, Prefer: 'handling=lenient' } : headers, body });
}

export interface Violation {
  readonly focus: string;
  /** Path of the violation. `<IRI>` for a single predicate. */
  readonly path?: string;
  readonly severity: string;
  readonly message: string;
}
export interface ViolatingResource {
  readonly id: string;
  readonly violations?: readonly Violation[];
  readonly isTooLarge?: boolean;
}
export interface ViolationsPage {
  readonly items: readonly ViolatingResource[];
  /** Reasons why shapes cannot be applied. */
  readonly problems: readonly string[];
  readonly next?: string;
}
