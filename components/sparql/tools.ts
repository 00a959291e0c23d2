/** Tools for agents: queries, the schema of the caller's data, and the stored queries of a container (rules 24.5, 24.6). */
import { text as wholeText } from 'node:stream/consumers';
import { schemaOf, type Tool, type ToolCaller } from '../../lib/component/tools.js';
import { lwsJson } from '../../lib/http/negotiate.js';
import { argumentNames } from '../../lib/query/parse/argument-names.js';
import { isAbsoluteIri } from '../../lib/rdf/iri.js';
import { nameOf } from '../../lib/storage/keys/records.js';
import { LwsError } from '../../lib/tools/errors.js';
import type { QueryTask } from './pool/messages.js';
import { requestOfUrl, type SparqlRequest, sparqlQuery } from './protocol/protocol.js';
import { runQueryTask } from './run-task.js';
import { type SparqlEndpoint, sparqlUrl } from './service-endpoint.js';
import { parametersOf } from './stored-queries.js';

const maxRows = 200;
const limit = { timeoutMs: 5_000, limitedBy: 'a fixed limit of tools' };
/** Maximum characters of a result. */
const maxShown = 100_000;
const formats = { results: 'text/tab-separated-values', graph: 'application/n-triples' } as const;

export const sparqlTools = (endpoint: SparqlEndpoint): readonly Tool[] => [
  {
    name: 'sparql',
    title: 'Query with SPARQL',
    description:
      `Runs a SPARQL 1.1 query over everything that you can read. Every RDF resource is a named graph, and the default graph is their union. ` +
      `Returns tab-separated values or N-Triples, at most ${maxRows} rows, within 5 seconds. To change data, use patch or write. Call schema first.`,
    inputSchema: schemaOf({ query: { type: 'string', description: 'SELECT, ASK, CONSTRUCT or DESCRIBE.' } }, 'query'),
    annotations: { readOnlyHint: true },
    async call(caller, { query }) {
      const asked = requestOfUrl(new URLSearchParams({ query: String(query) }), endpoint.maxBytes)!;
      return rowsOf(endpoint, caller, { ...asked, base: sparqlUrl(endpoint.platform) });
    },
  },
  {
    name: 'schema',
    title: 'Describe the data',
    description:
      'Returns the classes and properties of the data that you can read, with counts and an example each, and the shapes of classes. With a class: its properties and some instances.',
    inputSchema: schemaOf({ class: { type: 'string', maxLength: 5_000, description: 'IRI of a class.' } }),
    annotations: { readOnlyHint: true },
    async call(caller, { class: iri }) {
      const base = sparqlUrl(endpoint.platform);
      if (iri === undefined) return rowsOf(endpoint, caller, { query: wholeSchema, base });
      if (!isAbsoluteIri(String(iri))) throw new LwsError('bad-request', 'The class must be an absolute IRI.');
      return rowsOf(endpoint, caller, { query: schemaOfClass, parameters: { class: { iri: String(iri) } }, base });
    },
  },
];

const shapes = `{ SELECT ?shape ?class { ?shape <http://www.w3.org/ns/shacl#targetClass> ?class } ORDER BY ?shape LIMIT 40 }`;
const wholeSchema = `SELECT ?class ?property ?count ?example ?shape {
  { SELECT ?class (COUNT(?s) AS ?count) (SAMPLE(?s) AS ?example) { ?s a ?class } GROUP BY ?class ORDER BY DESC(?count) ?class LIMIT 60 }
  UNION { SELECT ?property (COUNT(?s) AS ?count) (SAMPLE(?o) AS ?example) { ?s ?property ?o } GROUP BY ?property ORDER BY DESC(?count) ?property LIMIT 100 }
  UNION ${shapes}
}`;
const schemaOfClass = `SELECT ?property ?count ?example ?instance ?shape {
  { SELECT ?property (COUNT(?s) AS ?count) (SAMPLE(?o) AS ?example) { ?s a ?class ; ?property ?o } GROUP BY ?property ORDER BY DESC(?count) ?property LIMIT 100 }
  UNION { SELECT ?instance { ?instance a ?class } LIMIT 5 }
  UNION ${shapes}
}`;

/** Runs a query. Returns the first rows, and a note if rows were omitted. */
async function rowsOf(
  endpoint: SparqlEndpoint,
  caller: ToolCaller,
  asked: SparqlRequest & Pick<QueryTask, 'base'>,
): Promise<readonly string[]> {
  const { services, maxAnswerBytes: maxBytes } = endpoint;
  const bounds = { maxResults: maxRows + 1, cutAt: maxShown, maxBytes, allowedServices: services.allowed, ...limit };
  const { mediaType, hint, body } = await runQueryTask(endpoint, caller, { ...asked, formats, ...bounds });
  const lines = (Buffer.isBuffer(body) ? body.toString() : await wholeText(body)).split('\n').slice(0, -1);
  const most = mediaType === formats.graph ? maxRows : maxRows + 1;
  let text = '';
  let shown = 0;
  for (; shown < Math.min(lines.length, most) && text.length + lines[shown]!.length < maxShown; shown++)
    text += `${lines[shown]}\n`;
  const note = `The result is cut off: only the beginning is shown, at most ${maxRows} rows. Use LIMIT, OFFSET and aggregates.`;
  return [text, ...(shown < lines.length ? [note] : []), ...(hint === undefined ? [] : [hint])];
}

/** Maximum stored queries that become tools, and maximum characters of the comment that describes one. */
const [maxStored, longestComment] = [50, 500];
const maxArguments = 20;

/** Returns the stored queries of a container that the caller can read. */
export async function storedTools(
  endpoint: SparqlEndpoint,
  container: string,
  { caller, wanted }: { readonly caller: ToolCaller; readonly wanted: string | undefined },
): Promise<readonly Tool[]> {
  const listing = await contentOf(endpoint, caller, container);
  const { items } = JSON.parse(listing ?? '{"items":[]}') as {
    items: { id: string; format?: string; size?: number }[];
  };
  const queries = items.filter(({ format, size }) => format === sparqlQuery && size! <= endpoint.maxBytes);
  const tools = new Map<string, Tool>();
  for (const { id } of queries.slice(0, maxStored)) {
    const name = `query_${nameOf(id).replace(/[^A-Za-z0-9_-]/g, '_')}`.slice(0, 64);
    if (tools.has(name) || (wanted !== undefined && name !== wanted)) continue;
    const query = await contentOf(endpoint, caller, id);
    if (query !== undefined) tools.set(name, await storedTool(endpoint, { name, iri: id, query }));
  }
  return [...tools.values()];
}

/** Returns the content of a resource, or `undefined` if the caller cannot read it. */
async function contentOf(
  { platform }: SparqlEndpoint,
  caller: ToolCaller,
  target: string,
): Promise<string | undefined> {
  try {
    const { body } = await platform.request(caller, {
      method: 'GET',
      target,
      fields: { accept: `${lwsJson}, */*;q=0.1` },
    });
    return String(body);
  } catch (error) {
    if (error instanceof LwsError) return undefined;
    throw error;
  }
}

async function storedTool(
  endpoint: SparqlEndpoint,
  { name, iri, query }: Record<'name' | 'iri' | 'query', string>,
): Promise<Tool> {
  const lines = query.split(/\r?\n/);
  const end = lines.findIndex((line) => !line.startsWith('#'));
  const comment = lines.slice(0, Math.max(0, end)).map((line) => line.replace(/^#+ ?/, ''));
  const names = (await argumentNames(query, iri)).slice(0, maxArguments);
  return {
    name,
    title: nameOf(iri),
    description: `Runs the stored query ${iri}. ${comment.join(' ').slice(0, longestComment)}`.trim(),
    inputSchema: schemaOf(Object.fromEntries(names.map((each) => [each, parameter(each)]))),
    annotations: { readOnlyHint: true },
    async call(caller, given) {
      const values = Object.entries(given).map(([each, value]): [string, string] => [each, String(value)]);
      return rowsOf(endpoint, caller, { query, parameters: parametersOf(values), base: iri });
    },
  };
}

const parameter = (name: string) => ({
  type: 'string' as const,
  maxLength: 2_000,
  description: `Value of $${name}: an IRI in <>, a literal in N-Triples syntax, or a text.`,
});
