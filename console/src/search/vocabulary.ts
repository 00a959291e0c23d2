/** Classes and predicates of the storage for completion. Cached per signed-in user. */

import { select } from '../storage/api.js';
import { once } from '../storage/once.js';
import { readFacets } from './search.js';

/** Maximum number of classes offered. */
const maxClasses = 500;
const keepMs = 300_000;

const readClasses = async (): Promise<readonly string[]> => (await readFacets(maxClasses))?.types ?? [];

async function readPredicates(): Promise<readonly string[]> {
  const rows = (await select('SELECT DISTINCT ?p { ?s ?p ?o } LIMIT 500')) ?? [];
  return rows.flatMap(({ p }) => (p?.type === 'uri' ? [p.value] : []));
}

/** For `completions` of the editor. */
export const vocabulary = { classes: once(readClasses, keepMs), predicates: once(readPredicates, keepMs) };
