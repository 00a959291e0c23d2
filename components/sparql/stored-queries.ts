/** Reads stored queries (`application/sparql-query`, or SHACL executables in RDF) and the values of their variables. */

import type { Quad, Source, Term } from '@rdfjs/types';
import { Parser } from 'n3';
import { DataFactory } from 'rdf-data-factory';
import type { Platform } from '../../lib/component/contract.js';
import type { StoredQuestion } from '../../lib/http/route.js';
import type { Parameters, ParameterTerm } from '../../lib/query/parse/parameters.js';
import { variableName } from '../../lib/query/parse/sparql-tokens.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import { quadsOf } from '../../lib/storage/transactions/quads.js';
import { LwsError } from '../../lib/tools/errors.js';
import { decodeUtf8 } from '../../lib/tools/json/json.js';
import { sparqlQuery } from './protocol/protocol.js';

const sh = 'http://www.w3.org/ns/shacl#';
const forms = ['select', 'ask', 'construct'] as const;
const factory = new DataFactory();
/** Maximum prefixes of a query in RDF. */
const maxPrefixes = 100;
const maxParameters = 64;

/** Returns the text of a stored query. @throws LwsError `bad-request` if the resource is not a query, `too-complex` if it is too long */
export async function queryOf(
  platform: Platform,
  { record, bytes }: Pick<StoredQuestion, 'record' | 'bytes'>,
  maxBytes: number,
): Promise<string> {
  const { kind, mediaType, size, iri } = record;
  const isText = kind === 'binary' && mediaType.split(';', 1)[0]!.trim().toLowerCase() === sparqlQuery;
  if (!isText && kind !== 'rdf') throw noQuery();
  if (isText && size > maxBytes) throw tooLong(maxBytes);
  const read = isText ? await bytes() : undefined;
  const text = isText ? read && decodeUtf8(read) : await executableAt(platform, iri);
  if (text === undefined) throw noQuery();
  if (Buffer.byteLength(text) > maxBytes) throw tooLong(maxBytes);
  return text;
}

const noQuery = (): LwsError =>
  new LwsError('bad-request', `The resource is not a query. Store ${sparqlQuery} or a sh:SPARQLExecutable.`);
const tooLong = (maxBytes: number): LwsError =>
  new LwsError('too-complex', `The query is longer than ${maxBytes} bytes (lws.sparql.endpoint.max-query-bytes).`);

/** Returns the query of an executable, with text and prefixes from one snapshot. */
async function executableAt({ store: { level } }: Platform, iri: string): Promise<string | undefined> {
  const snapshot = level.snapshot();
  try {
    return await executableOf(quadsOf(level, snapshot), iri);
  } finally {
    await snapshot.close();
  }
}

/** Returns the query of the executable that has the IRI of the resource, otherwise of the only executable in the resource. */
async function executableOf(quads: Source, iri: string): Promise<string | undefined> {
  const graph = factory.namedNode(iri);
  const match = async (subject: Term | null, name: string): Promise<Quad[]> => {
    const found: Quad[] = [];
    for await (const quad of quads.match(
      subject,
      factory.namedNode(sh + name),
      null,
      graph,
    ) as unknown as AsyncIterable<Quad>) {
      found.push(quad);
      if (found.length > maxPrefixes) break;
    }
    return found;
  };
  const all = (await Promise.all(forms.map((form) => match(null, form)))).flat();
  const own = all.filter(({ subject }) => subject.value === iri);
  const [query, ...more] = own.length > 0 ? own : all;
  if (!query) return undefined;
  if (more.length > 0)
    throw new LwsError(
      'bad-request',
      'The resource contains several queries. Exactly one must have the IRI of the resource.',
    );
  if (query.object.termType !== 'Literal') return undefined;
  const declarations = (await match(query.subject, 'prefixes')).map(({ object }) => object);
  const declared: string[] = [];
  for (const node of declarations)
    for (const { object } of await match(node, 'declare')) {
      const [[name], [namespace]] = [await match(object, 'prefix'), await match(object, 'namespace')];
      declared.push(prefixLine(name?.object.value ?? '', namespace?.object.value ?? ''));
      if (declared.length > maxPrefixes)
        throw new LwsError('too-complex', `The query has more than ${maxPrefixes} prefixes (fixed limit).`);
    }
  // Put the prefixes on the first line of the query, so that line numbers in error messages stay correct.
  return declared.join('') + query.object.value;
}

function prefixLine(name: string, namespace: string): string {
  if (!/^(?:[A-Za-z][\w-]*)?$/.test(name) || !isAbsoluteIri(namespace))
    throw new LwsError('bad-request', 'A prefix of the query has an invalid name or namespace.');
  return `PREFIX ${name}: <${namespace}> `;
}

const aVariableName = new RegExp(`^${variableName}$`, 'u');

/** Parses values of variables: IRIs in `<>`, literals in N-Triples syntax, others as strings. @throws LwsError `bad-request` */
export function parametersOf(given: Iterable<readonly [name: string, value: string]>): Parameters {
  const found: Record<string, ParameterTerm> = Object.create(null);
  for (const [name, value] of given) {
    if (!aVariableName.test(name))
      throw new LwsError('bad-request', 'A parameter must have the name of a variable: &name=value.');
    if (name in found) throw new LwsError('bad-request', `The parameter ${name} is repeated.`);
    if (Object.keys(found).length >= maxParameters)
      throw new LwsError('bad-request', `The query has more than ${maxParameters} parameters.`);
    found[name] = termOf(name, value);
  }
  return { ...found };
}

function termOf(name: string, value: string): ParameterTerm {
  if (value.startsWith('<') && value.endsWith('>')) {
    const iri = value.slice(1, -1);
    if (isAbsoluteIri(iri)) return { iri };
    throw new LwsError('bad-request', `The value of parameter ${name} must be an absolute IRI in <>.`);
  }
  if (!value.startsWith('"')) return { literal: value };
  const literal = readLiteral(value);
  if (!literal)
    throw new LwsError('bad-request', `The value of parameter ${name} must be a literal in N-Triples syntax.`);
  return literal;
}

/** Matches a text that is one literal, without unescaped quotes inside. */
const literalForm = /^"(?:[^"\\\r\n]|\\[^\r\n])*"(?:@[A-Za-z0-9-]+|\^\^<[^<>"\s]*>)?$/;

function readLiteral(value: string): ParameterTerm | undefined {
  if (!literalForm.test(value)) return undefined;
  try {
    const [quad] = new Parser({ format: 'N-Triples' }).parse(`<urn:x> <urn:x> ${value} .`);
    const { object } = quad!;
    if (object.termType !== 'Literal') return undefined;
    if (object.language) return { literal: object.value, language: object.language };
    const datatype = object.datatype.value;
    return datatype === 'http://www.w3.org/2001/XMLSchema#string'
      ? { literal: object.value }
      : { literal: object.value, datatype };
  } catch {
    // Omit the parser's message, which would refer to an N-Triples line that the client did not write.
    return undefined;
  }
}
