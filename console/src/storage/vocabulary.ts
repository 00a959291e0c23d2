/** Classes and predicates that the storage uses, for completion: read once, and again when somebody else is signed in. */

import { onSession } from '../session/session.js';
import { serviceEndpoint, succeed } from './api.js';

/** More classes than this are not offered. */
const maxPages = 5;
const keepMs = 300_000;

interface TypeIndex {
  readonly items?: readonly { readonly id: string }[];
}
interface Bindings {
  readonly results: {
    readonly bindings: readonly { readonly p?: { readonly type: string; readonly value: string } }[];
  };
}

async function readClasses(): Promise<readonly string[]> {
  let next = await serviceEndpoint('TypeIndexService');
  const found: string[] = [];
  for (let page = 0; next !== undefined && page < maxPages; page++) {
    const response = await succeed('GET', next, { headers: { Accept: 'application/lws+json' } });
    const { items = [] } = (await response.json()) as TypeIndex;
    found.push(...items.map(({ id }) => id));
    const link = /<([^>]*)>;\s*rel="?next"?/.exec(response.headers.get('Link') ?? '')?.[1];
    next = link === undefined ? undefined : new URL(link, next).href;
  }
  return [...new Set(found)];
}

async function readPredicates(): Promise<readonly string[]> {
  const endpoint = await serviceEndpoint('SparqlQueryService');
  if (endpoint === undefined) return [];
  const response = await succeed('POST', endpoint, {
    headers: { 'Content-Type': 'application/sparql-query', Accept: 'application/sparql-results+json' },
    body: 'SELECT DISTINCT ?p { ?s ?p ?o } LIMIT 500',
  });
  const { results } = (await response.json()) as Bindings;
  return results.bindings.flatMap(({ p }) => (p?.type === 'uri' ? [p.value] : []));
}

/** Asks once for many: the answer is kept for a while, a failure is not. */
function kept(read: () => Promise<readonly string[]>): () => Promise<readonly string[]> {
  let answer: Promise<readonly string[]> | undefined;
  let until = 0;
  onSession(() => {
    answer = undefined;
  });
  return () => {
    if (answer && Date.now() < until) return answer;
    const asked = read();
    answer = asked;
    until = Date.now() + keepMs;
    asked.catch(() => {
      if (answer === asked) answer = undefined;
    });
    return asked;
  };
}

/** For `completions` of the editor. */
export const vocabulary = { classes: kept(readClasses), predicates: kept(readPredicates) };
