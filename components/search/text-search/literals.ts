/** Finds literals that match all terms of a search, for `text:query` in SPARQL. */

import type { TextAnswer, TextCall, TextRow } from '../../../lib/query/parse/text-patterns.js';
import { addCount } from '../../../lib/tools/collections.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { BackgroundRebuild } from '../postings/background-rebuild.js';
import { assertComplete } from './rebuild-job.js';
import { Best, type Match, openSearch, type TextSearch } from './search.js';
import { onState, type Searched, type TextIndex } from './searched.js';
import { statementsAt } from './snippets.js';
import { isStatement, type TextStatement } from './statements.js';
import { parseTerms } from './terms.js';

/** Matching literal whose text has not been read yet. */
interface Candidate {
  /** Graph and place. They order literals with the same score. */
  readonly iri: string;
  readonly graph: string;
  readonly place: string;
  readonly score: number;
}

/**
 * Maximum count of literals read to find literals with the predicate and an IRI subject, count read at a time, and maximum
 * characters of all results, which the query thread receives in one message.
 */
const [maxRead, readAtATime, maxCharacters] = [50_000, 100, 8 << 20];

export interface LiteralSearch extends TextSearch {
  readonly predicate?: string | undefined;
  readonly limit: number;
  /** IRI of the graph with the literals. */
  readonly graph?: string | undefined;
}

/** Returns the readable literals that match all terms, best first, except those of blank nodes. @throws LwsError as `search` */
export const literalsOf = (
  index: TextIndex,
  { predicate, limit, graph, ...asked }: LiteralSearch,
): Promise<readonly TextRow[]> =>
  onState(index, async (searched) => {
    const best = new Best<Candidate>(maxRead);
    let count = 0;
    for await (const block of await openSearch(searched, asked)())
      for (const match of block)
        for (const candidate of graph === undefined || match.iri === graph ? candidatesIn(match) : []) {
          best.add(candidate);
          count++;
        }
    const candidates = best.sorted();
    const rows: TextRow[] = [];
    const known = new Set<string>();
    let characters = 0;
    for (let at = 0; at < candidates.length && rows.length < limit; at += readAtATime)
      for (const row of await read(searched, candidates.slice(at, at + readAtATime), predicate)) {
        if (rows.length === limit) break;
        // The same triple can be in several graphs. Return it once.
        const triple = JSON.stringify([row.subject, row.predicate, row.language, row.literal]);
        if (known.has(triple)) continue;
        known.add(triple);
        characters += row.literal.length;
        if (characters > maxCharacters)
          throw tooMuch(`The matching literals have more than ${maxCharacters} characters.`);
        rows.push(row);
      }
    // Reject instead of truncating: an incomplete result must not look complete.
    if (rows.length < limit && count > maxRead) throw tooMuch(`More than ${maxRead} literals match the words.`);
    return rows;
  });

const tooMuch = (detail: string): LwsError =>
  new LwsError(
    'bad-request',
    `${detail} The limit of text:query is fixed. Search for more words, or use a lower limit.`,
  );

/** Returns the statements of a resource that match every term. */
function candidatesIn({ iri: graph, hits, scoreOf }: Match): readonly Candidate[] {
  const counts = hits.map((hit) => {
    const sums = new Map<string, number>();
    for (const { place, count } of hit.places()) if (isStatement(place)) addCount(sums, place, count);
    return sums;
  });
  return [...counts[0]!.keys()]
    .filter((place) => counts.every((each) => each.has(place)))
    .map((place) => ({
      ...{ iri: `${graph} ${place}`, graph, place },
      score: scoreOf(counts.map((each) => each.get(place)!)),
    }));
}

async function read(
  { snapshot }: Searched,
  candidates: readonly Candidate[],
  predicate: string | undefined,
): Promise<readonly TextRow[]> {
  const places = new Map<string, string[]>();
  for (const { graph, place } of candidates) places.set(graph, [...(places.get(graph) ?? []), place]);
  const statements = new Map<string, ReadonlyMap<string, TextStatement>>();
  for (const [graph, wanted] of places) statements.set(graph, await statementsAt(snapshot, graph, wanted));
  return candidates.flatMap(({ graph, place, score }) => {
    const found = statements.get(graph)!.get(place);
    if (!found) throw tooMuch('A matching literal is of a subject with too many statements.');
    if (!found.isIri || (predicate !== undefined && found.predicate !== predicate)) return [];
    const { subject, text: literal, language } = found;
    return [{ subject, predicate: found.predicate, score, literal, language }];
  });
}

/** Evaluates a `text:query` pattern of a query. @param rebuild rebuild of the index, which must be complete */
export async function answerTexts(
  index: TextIndex,
  rebuild: BackgroundRebuild,
  { query, ...asked }: TextCall & { readonly within?: string | undefined },
): Promise<TextAnswer> {
  try {
    assertComplete(rebuild);
    return { rows: await literalsOf(index, { terms: parseTerms(query), ...asked }) };
  } catch (error) {
    if (!(error instanceof LwsError) || !(error.code === 'bad-request' || error.code === 'too-busy')) throw error;
    return {
      code: error.code === 'too-busy' ? 'too-busy' : 'malformed-query',
      message: error.message,
      fields: error.fields,
    };
  }
}
