/** Syntax tree of traqula's parser, and its terms with prefixes and relative references resolved. */
import type { Term } from '@rdfjs/types';
import { blank, iri, plain, tagged, triple, typed, variable } from './terms.js';

/** Node of the tree. Each kind has some of the members. */
export interface Node {
  readonly type?: string;
  readonly subType?: string;
  readonly [member: string]: unknown;
}

export const nodes = (value: unknown): readonly Node[] => (value as readonly Node[] | undefined) ?? [];

export const termsOfTriple = (node: Node): readonly Node[] =>
  ['subject', 'predicate', 'object'].map((name) => node[name] as Node);

let parser: Promise<{ parse(text: string, context: object): unknown }> | undefined;

/** Parses a query. @throws the error of the parser */
export async function parseSyntax(text: string, baseIRI: string): Promise<Node> {
  parser ??= import('@traqula/parser-sparql-1-2').then(({ Parser }) => new Parser() as never);
  return (await parser).parse(text, { baseIRI }) as Node;
}

/** Resolves names by the BASE and PREFIX declarations of a prologue. */
export class Prologue {
  private base: string;
  private readonly prefixes = new Map<string, string>();

  constructor(base: string, declarations: readonly Node[]) {
    this.base = base;
    for (const { subType, key, value } of declarations)
      if (subType === 'base') this.base = this.resolve((value as { value: string }).value);
      else if (subType === 'prefix') this.prefixes.set(key as string, this.resolve((value as { value: string }).value));
  }

  get baseIri(): string {
    return this.base;
  }

  resolve = (reference: string): string => resolveReference(reference, this.base);

  term = (node: Node): Term => {
    if (node.subType === 'variable') return variable(node['value'] as string);
    if (node.subType === 'namedNode') return iri(this.iri(node));
    if (node.subType === 'blankNode') return blank(node['label'] as string);
    if (node.subType === 'triple') {
      const [subject, predicate, object] = termsOfTriple(node).map(this.term);
      return triple(subject!, predicate!, object!);
    }
    if (node.subType !== 'literal') throw new Error(`Unsupported term: ${node.subType}`);
    const { value, langOrIri } = node as unknown as { value: string; langOrIri: string | Node | undefined };
    if (langOrIri === undefined) return plain(value);
    return typeof langOrIri === 'string' ? tagged(value, langOrIri) : typed(value, this.iri(langOrIri));
  };

  iri(node: Node): string {
    const { value, prefix } = node as unknown as { value: string; prefix?: string };
    if (prefix === undefined) return this.resolve(value);
    const namespace = this.prefixes.get(prefix);
    if (namespace === undefined) throw new Error(`Unknown prefix: ${prefix}`);
    // PN_LOCAL_ESC (19.8).
    return namespace + value.replace(/\\([_~.\-!$&'()*+,;=/?#@%])/g, '$1');
  }
}

/** Resolves a relative reference. Absolute IRIs stay unchanged, including dot segments (RFC 3986, 5.2.2 without normalization). */
export const resolveReference = (reference: string, base: string): string =>
  /^[a-z][a-z0-9+.-]*:/i.test(reference) || base === '' ? reference : resolved(reference, base);

function resolved(reference: string, base: string): string {
  const [, scheme, authority = '', path, query = ''] = /^([a-z][a-z0-9+.-]*:)(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?/i.exec(
    base,
  )!;
  const [, ownAuthority, ownPath = '', ownQuery, fragment = ''] = /^(\/\/[^/?#]*)?([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(
    reference,
  )!;
  if (ownAuthority !== undefined) return `${scheme}${ownAuthority}${withoutDots(ownPath)}${ownQuery ?? ''}${fragment}`;
  if (ownPath === '') return `${scheme}${authority}${path}${ownQuery ?? query}${fragment}`;
  const merged = ownPath.startsWith('/') ? ownPath : `${path!.slice(0, path!.lastIndexOf('/') + 1) || '/'}${ownPath}`;
  return `${scheme}${authority}${withoutDots(merged)}${ownQuery ?? ''}${fragment}`;
}

/** RFC 3986, 5.2.4. */
function withoutDots(path: string): string {
  const output: string[] = [];
  const segments = path.split('/');
  for (const [at, segment] of segments.entries()) {
    const isLast = at === segments.length - 1;
    if (segment === '..') {
      if (output.length > 1) output.pop();
      if (isLast) output.push('');
    } else if (segment === '.') {
      if (isLast) output.push('');
    } else output.push(segment);
  }
  return output.join('/');
}
