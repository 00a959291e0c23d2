/** Metadata file of a resource (`X.meta`) in Community Solid Server 7: links, declared types and media type. */
import type { Quad, Term } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { type FormatTools, type Links, parseMediaType, TransferError } from '../../lib/plugin/formats.js';
import { canonicalIri } from './css-names.js';

const ldp = 'http://www.w3.org/ns/ldp#';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';
const xsdString = 'http://www.w3.org/2001/XMLSchema#string';
/** Namespace of registered link relations. */
const registered = 'http://www.iana.org/assignments/relation/';

const factory = new DataFactory<Quad>();

const server = 'urn:npm:solid:community-server:';
const [parameter, parameterValue] = [`${server}meta:contentTypeParameter`, `${server}meta:value`];
const label = 'http://www.w3.org/2000/01/rdf-schema#label';
const format = 'http://www.w3.org/ns/ma-ont#format';
/** Predicates of triples that Community Solid Server generates for every resource. */
const ownPredicates: ReadonlySet<string> = new Set([`${ldp}contains`, 'http://purl.org/dc/terms/modified']);
const posix = 'http://www.w3.org/ns/posix/stat#';
const isOwnType = (type: string): boolean => type.startsWith(ldp) || type === 'http://www.w3.org/ns/pim/space#Storage';

export interface CssMetadata {
  readonly links: Links;
  /** Media type without parameters, if present. */
  readonly mediaType?: string;
  /** Parameters of the media type, such as `; charset=utf-8`. */
  readonly parameters: string;
  /** Description of metadata that cannot be imported. */
  readonly leftOut?: string;
}

/** Parses the metadata of the resource with this IRI. */
export function readMetadata(quads: readonly Quad[], iri: string, tools: FormatTools): CssMetadata {
  const known = canonicalIri(iri);
  const relations = new Map<string, unknown[]>();
  const [lost, parameters] = [new Map<string, number>(), new Map<string, string>()];
  const lose = (why: string): unknown => lost.set(why, (lost.get(why) ?? 0) + 1);
  const blank = blankNodes(quads);
  let mediaType: string | undefined;
  for (const { subject, predicate, object } of quads) {
    if (subject.termType === 'BlankNode' && blank.parameters.has(subject.value)) continue;
    const name = predicate.value;
    if (canonicalIri(subject.value) !== known) lose('about another resource');
    else if (name === parameter) addParameter(parameters, blank.values.get(object.value));
    else if (name === format) mediaType = object.value;
    else if (isOwn(name, object) || relationOf(name) === 'anchor') continue;
    else if (object.termType === 'BlankNode') lose('with a blank node');
    else if (object.termType === 'NamedNode') push(relations, relationOf(name), { href: object.value });
    else if (object.termType === 'Literal' && object.datatype.value === xsdString && name !== rdfType)
      push(relations, relationOf(name), object.value);
    else lose('with a language-tagged or typed literal');
  }
  const found = linksOf(relations, (object) => tools.links.read(object, iri), lose);
  return {
    links: found,
    ...(mediaType !== undefined && parseMediaType(mediaType) ? { mediaType } : {}),
    parameters: [...parameters].map(([name, value]) => `; ${name}=${quoted(value)}`).join(''),
    ...(lost.size > 0 ? { leftOut: sentence(lost) } : {}),
  };
}

const isOwn = (predicate: string, object: Term): boolean =>
  ownPredicates.has(predicate) ||
  predicate.startsWith(posix) ||
  predicate.startsWith(server) ||
  (predicate === rdfType && isOwnType(object.value));

const relationOf = (predicate: string): string => {
  if (predicate === rdfType) return 'type';
  return predicate.startsWith(registered) ? predicate.slice(registered.length) : predicate;
};

function push<Value>(map: Map<string, Value[]>, name: string, value: Value): void {
  const values = map.get(name);
  if (values) values.push(value);
  else map.set(name, [value]);
}

function linksOf(
  relations: ReadonlyMap<string, unknown[]>,
  read: (object: unknown) => Links,
  lose: (why: string) => unknown,
): Links {
  const members = [...relations].map(([name, values]) => {
    const [first] = values;
    return [name, values.length === 1 && typeof first === 'string' ? first : values];
  });
  try {
    return read(Object.fromEntries(members));
  } catch (cause) {
    if (!(cause instanceof TransferError)) throw cause;
    for (const values of relations.values())
      for (const _ of values) lose(`in a description that cannot be a linkset (${cause.message})`);
    return {};
  }
}

interface BlankNodes {
  /** Labels of blank nodes that describe parameters of the media type. */
  readonly parameters: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, { name?: string; value?: string }>;
}

function blankNodes(quads: readonly Quad[]): BlankNodes {
  const values = new Map<string, { name?: string; value?: string }>();
  for (const { predicate, object } of quads) if (predicate.value === parameter) values.set(object.value, {});
  for (const { subject, predicate, object } of quads) {
    const found = values.get(subject.value);
    if (found && predicate.value === label) found.name = object.value;
    else if (found && predicate.value === parameterValue) found.value = object.value;
  }
  return { parameters: new Set(values.keys()), values };
}

/** Adds a media type parameter, if a header field can contain the value. */
function addParameter(parameters: Map<string, string>, found: { name?: string; value?: string } | undefined): void {
  const { name, value } = found ?? {};
  if (name !== undefined && value !== undefined && parseMediaType(`a/b; ${name}=${quoted(value)}`))
    parameters.set(name, value);
}

const quoted = (value: string): string =>
  /^[\w!#$%&'*+.^`|~-]+$/.test(value) ? value : `"${value.replace(/["\\]/g, '\\$&')}"`;

const sentence = (lost: ReadonlyMap<string, number>): string =>
  `Links cannot say: ${[...lost].map(([why, count]) => `${count} ${count === 1 ? 'triple' : 'triples'} ${why}`).join(', ')}.`;

/** Adds the media type to the triples. @param mediaType only if the file name does not imply it, or if it has parameters */
export function metadataQuads(iri: string, quads: Quad[], mediaType?: string): Quad[] {
  const subject = factory.namedNode(iri);
  const { essence, parameters } = (mediaType === undefined ? undefined : parseMediaType(mediaType)) ?? {};
  if (essence !== undefined) quads.push(factory.quad(subject, factory.namedNode(format), factory.literal(essence)));
  let count = 0;
  for (const [name, value] of parameters ?? []) {
    const node = factory.blankNode(`p${count++}`);
    quads.push(
      factory.quad(subject, factory.namedNode(parameter), node),
      factory.quad(node, factory.namedNode(label), factory.literal(name)),
      factory.quad(node, factory.namedNode(parameterValue), factory.literal(value)),
    );
  }
  return quads;
}
