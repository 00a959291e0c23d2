/** Finds the arguments of a stored query: variables of the query that are written with `$` (rule 24.6). */
import { decodeEscapes } from './code-point-escapes.js';
import { assignedIn } from './parameters.js';
import { nodesOf } from './query-scopes.js';
import { sparqlReader } from './sparql-parser.js';
import { commentToken, referenceToken, stringToken, variableName } from './sparql-tokens.js';

/** Token: a variable with `$`, or text in which `$` starts no variable: a string, comment, reference or escaped character. */
const token = new RegExp(`${stringToken}|${commentToken}|<${referenceToken}>|\\\\.|\\$(${variableName})`, 'gsu');

/** Cached argument names by query text, because each list of tools needs the names of the same queries. */
const known = new Map<string, readonly string[]>();
const maxKnown = 100;

/**
 * Returns the names of the variables with `$`, in the order of the text. Omits variables that the query assigns, which cannot
 * be arguments. Empty for a text that is not a query, or that has SERVICE.
 */
export async function argumentNames(text: string, base: string): Promise<readonly string[]> {
  const query = decodeEscapes(text);
  if (!query.includes('$')) return [];
  const names = known.get(query) ?? (await namesIn(query, base));
  known.delete(query);
  known.set(query, names);
  for (const [oldest] of known) if (known.size > maxKnown) known.delete(oldest);
  return names;
}

async function namesIn(query: string, base: string): Promise<readonly string[]> {
  const { parse } = await sparqlReader(base);
  let nodes: ReturnType<typeof nodesOf>;
  try {
    nodes = nodesOf(parse(query));
  } catch {
    // When the stored query is called, the syntax error is reported.
    return [];
  }
  const variables = new Set<unknown>();
  const assigned = new Set<unknown>();
  for (const node of nodes) {
    if (node['subType'] === 'service') return [];
    if (node.type === 'term' && node['subType'] === 'variable') variables.add(node['value']);
    for (const { value } of assignedIn(node)) assigned.add(value);
  }
  const written = [...query.matchAll(token)].flatMap(([, name]) => (name === undefined ? [] : [name]));
  return [...new Set(written)].filter((name) => variables.has(name) && !assigned.has(name));
}
