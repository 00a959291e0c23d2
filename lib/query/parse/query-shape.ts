/**
 * Computes the shape of a query: its text with placeholders for the constants. Constants are absolute IRIs and strings in term
 * positions. Queries of one shape are parsed and compiled once. Unusual terms stay in the shape. Pure functions.
 */
import type { Literal, NamedNode, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { nodesOf } from './query-scopes.js';
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

/** Constants of a query by placeholder. Equal constants have the same placeholder. */
export type Constants = ReadonlyMap<string, string>;

export interface QueryShape {
  readonly text: string;
  readonly constants: Constants;
}

/** Prefix of placeholders, with a private-use character. A text that contains this character has no shape. */
const placeholder = 'urn:\ue000';

/** Token: a string, comment, reference (with the parenthesis of a function call), word, or any other character. */
const token = new RegExp(
  `${stringToken}|${commentToken}|<${referenceToken}>(?:\\s*\\()?|[?$@:%.\\w\\u0080-\\uffff-]+|\\S`,
  'gs',
);
/** Matches a reference to an absolute IRI. Excludes surrogates, which the parser checks. */
const absoluteIri = /^<[A-Za-z][A-Za-z0-9+.-]*:[!-~\u00a1-\ud7ff\uf900-\ufffd]*>$/;
const shortString = /^(["'])(?!\1.)[ -~\u00a0-\ud7ff\uf900-\ufffd]*\1$/;
/** Matches a token after which an IRI or string is not a term: a keyword, a declared prefix, or the end of `^^`. */
const isBeforeOther = /^(?:from|named|base|version|separator|\^|.*:)$/is;

/** Returns the shape of a query. Without constants, it is the text. `undefined` if the text may contain a placeholder. */
export function queryShapeOf(text: string): QueryShape | undefined {
  if (text.includes('\ue000')) return undefined;
  const constants = new Map<string, string>();
  if (/\\|<</.test(text)) return { text, constants };
  const written = new Map<string, string>();
  let isOther = false;
  let hasComment = false;
  const shape = text.replace(token, (all) => {
    const isIri = absoluteIri.test(all);
    if (!isIri && !shortString.test(all)) {
      hasComment ||= all.startsWith('#');
      if (all !== '=') isOther = isBeforeOther.test(all);
      return all;
    }
    if (isOther) return all;
    const value = all.slice(1, -1);
    const key = isIri ? all : `"${value}`;
    let known = written.get(key);
    if (known === undefined) {
      const name = placeholder + constants.size;
      constants.set(name, value);
      known = isIri ? `<${name}>` : `"${name}"`;
      written.set(key, known);
    }
    return known;
  });
  return hasComment ? { text, constants: new Map() } : { text: shape, constants };
}

const factory = new DataFactory();

/** Returns the constant of a placeholder, and any other term unchanged. */
export function constantOf<T extends Term>(term: T, constants: Constants): T {
  const value = constants.get(term.value);
  if (value === undefined) return term;
  if (term.termType === 'NamedNode') return factory.namedNode(value) as never;
  const { language, direction, datatype } = term as unknown as Literal;
  return factory.literal(value, (language ? { language, direction } : datatype) as NamedNode) as never;
}

/** Returns true if a term of a shape is a placeholder. */
export const isPlaceholder = ({ value }: { readonly value: string }): boolean => value.startsWith(placeholder);

/** Returns an operation with its placeholders replaced by the constants. */
export const withConstants = <T extends object>(operation: T, constants: Constants): T =>
  constants.size === 0
    ? operation
    : rewritten(operation, (part) =>
        typeof part === 'object' && part !== null && 'termType' in part ? constantOf(part as Term, constants) : part,
      );

type Parts = Record<string, unknown>;

/**
 * Returns a tree with some parts replaced. All other parts are shared with the original.
 * @param replace returns the replacement of a part. If it returns the part, the members of the part are visited
 */
export function rewritten<T extends object>(root: T, replace: (part: unknown) => unknown): T {
  const done = new Map<unknown, unknown>();
  const of = (part: unknown): unknown => {
    let copy = done.get(part) ?? replace(part);
    if (copy !== part || typeof part !== 'object' || part === null || part instanceof Set || done.has(part))
      return copy;
    for (const key in part) {
      const member = of((part as Parts)[key]);
      if (member === (part as Parts)[key]) continue;
      if (copy === part) copy = cloned(part);
      (copy as Parts)[key] = member;
    }
    done.set(part, copy);
    return copy;
  };
  return of(root) as T;
}

function cloned(part: object): object {
  if (Array.isArray(part)) return [...part];
  const prototype = Object.getPrototypeOf(part);
  // The prototype is kept, so that a literal has the hidden class of the original, and optimized code runs on both.
  return prototype === Object.prototype ? { ...part } : Object.assign(Object.create(prototype), part);
}

/**
 * Returns the terms of a parsed shape that are not placeholders. If a constant equals such a term, the shape is not used,
 * because parser and compiler merge equal terms. Returns `undefined` if a placeholder is lost or not a term. The shape is then
 * never used.
 */
export function fixedTerms(parts: object, constants: Constants): ReadonlySet<string> | undefined {
  const [fixed, found] = [new Set<string>(), new Set<string>()];
  const isOpen = (member: unknown): boolean =>
    typeof member === 'string' ? member.includes(placeholder) : Array.isArray(member) && member.some(isOpen);
  for (const node of nodesOf(parts)) {
    const { termType, value } = node as Partial<Term>;
    const isTerm = termType === 'NamedNode' || termType === 'Literal';
    if (isTerm) (isOpen(value) ? found : fixed).add(value!);
    for (const [key, member] of Object.entries(node)) {
      if (isTerm && key === 'value') continue;
      // `name` is the function of a call. A placeholder as function or datatype is not a term.
      const isFixed = key === 'name' || key === 'datatype';
      if (isOpen(member) || (isFixed && isOpen((member as Term | undefined)?.value))) return undefined;
    }
  }
  return found.size === constants.size ? fixed : undefined;
}
