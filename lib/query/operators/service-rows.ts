/**
 * Parses the response of another endpoint as rows: SPARQL 1.2 Query Results JSON from an untrusted server. Must not depend on
 * plans or on the transport.
 */
import { randomBytes } from 'node:crypto';
import type { Term } from '@rdfjs/types';
import { maxTripleDepth } from '../../rdf/bounds.js';
import { isAbsoluteIri } from '../../rdf/iri.js';
import { rdf, xsd } from '../../rdf/vocabulary.js';
import { encodeTerm, needLanguages } from '../../storage/keys/quad-keys.js';
import { getOrMake } from '../../tools/collections.js';
import { LwsError } from '../../tools/errors.js';
import type { ServiceAnswer, ServiceCall } from '../access/service-call.js';
import { type TermKey, termKey } from '../access/terms.js';
import { isAllowed, tripleKey } from '../access/triple-terms.js';
import type { ServiceClause } from '../parse/service-clauses.js';
import type { Row, Slot } from '../plan/plan.js';

/**
 * Returns the solutions of a SERVICE clause. If the call fails, SILENT returns one empty row (SPARQL 1.1 Federated Query 2.3).
 * @param values VALUES clause at the end of the query, or an empty text
 * @throws LwsError `service-failed`, `query-limit`
 */
export async function serviceRows(
  { endpoint, isSilent, query }: ServiceClause,
  values: string,
  columns: readonly (readonly [name: string, slot: Slot])[],
  makeRow: () => Row,
  call: (call: ServiceCall) => Promise<ServiceAnswer>,
): Promise<Row[]> {
  const answer = await call({ endpoint, query: query + values });
  try {
    if (!('body' in answer)) throw new LwsError(answer.code, answer.message);
    return readRows(answer.body, columns, makeRow);
  } catch (error) {
    if (!(error instanceof LwsError)) throw error;
    if (isSilent) return [makeRow()];
    if (!('body' in answer)) throw error;
    const why = error.message.slice(0, 200);
    throw new LwsError(
      'service-failed',
      `The response of the service <${endpoint.slice(0, 200)}> is not valid: ${why}`,
    );
  }
}

/** Parses the rows of a response. @throws LwsError for an invalid result table, or a term that cannot be stored */
function readRows(
  body: Uint8Array,
  columns: readonly (readonly [name: string, slot: Slot])[],
  makeRow: () => Row,
): Row[] {
  const tokens = tokenReader();
  const { results } = objectOf(parseJson(body), 'It');
  const { bindings } = objectOf(results, 'The member "results"');
  if (!Array.isArray(bindings)) throw unusable('The member "bindings" is not an array.');
  return bindings.map((binding: unknown) => {
    const terms = objectOf(binding, 'A binding');
    const row = makeRow();
    for (const [name, slot] of columns) if (Object.hasOwn(terms, name)) row[slot] = tokens(terms[name]);
    return row;
  });
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
  } catch {
    // The parser's message is not used, because it quotes the response, which may contain internal data of the endpoint's host.
    throw unusable('It is not JSON.');
  }
}

const unusable = (why: string): LwsError => new LwsError('service-failed', why);

function objectOf(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw unusable(`${what} is not an object.`);
}

/** Returns a function that reads the terms of one response. Blank node labels are valid within the response. */
function tokenReader(): (term: unknown) => TermKey {
  const scope = randomBytes(12).toString('hex');
  const labels = new Map<string, TermKey>();
  const newNode = (): TermKey =>
    termKey({ termType: 'BlankNode', value: `b${scope}x${labels.size.toString(36)}` } as Term);
  const read = (term: unknown, depth = 0): TermKey => {
    const { type, value, datatype, 'xml:lang': language, 'its:dir': direction } = objectOf(term, 'A term');
    // The depth is checked before the recursion, because deeply nested terms would exhaust the stack.
    if (depth > maxTripleDepth) throw unusable('Triple terms are nested too deeply.');
    if (type === 'triple') return tripleToken(value, (each) => read(each, depth + 1));
    if (typeof value !== 'string') throw unusable('A term has no value.');
    if (type === 'uri') return iriToken(value);
    if (type === 'bnode') return getOrMake(labels, value, newNode);
    if (type !== 'literal' && type !== 'typed-literal') throw unusable('A term has an unknown type.');
    return literalToken(value, datatype, language, direction);
  };
  return (term) => read(term);
}

/** @throws LwsError `service-failed` for a triple that RDF does not allow, `too-large` for too deep nesting */
function tripleToken(value: unknown, read: (term: unknown) => TermKey): TermKey {
  const { subject, predicate, object } = objectOf(value, 'The value of a triple term');
  const parts = [read(subject), read(predicate), read(object)] as const;
  if (!isAllowed(parts)) throw unusable('A triple term is not valid RDF.');
  return tripleKey(parts);
}

function iriToken(value: string): TermKey {
  encodeTerm({ termType: 'NamedNode', value } as Term);
  return value;
}

function literalToken(value: string, datatype: unknown, language: unknown, direction: unknown): TermKey {
  const isTagged = language !== undefined;
  const type = isTagged ? `${rdf.namespace}langString` : (datatype ?? xsd.string);
  if (direction !== undefined && typeof direction !== 'string') throw unusable('A base direction is not a string.');
  if (typeof type !== 'string' || !isAbsoluteIri(type)) throw unusable('A datatype is not an IRI.');
  if (isTagged ? typeof language !== 'string' || language === '' : needLanguages.has(type))
    throw unusable('The datatype and the language of a literal do not match.');
  return termKey({
    termType: 'Literal',
    value,
    // Language tags are case-insensitive. Tags of queries and of Turtle are stored in lower case, too (RDF 1.1 Concepts 3.3).
    language: isTagged ? String(language).toLowerCase() : '',
    datatype: { termType: 'NamedNode', value: type },
    direction,
  } as never);
}
