/** Which types resources give themselves, which a search does not tell: asked of the SPARQL service, where there is one. */
import { select } from '../storage/api.js';

/** Characters of IRIs in one query; the service takes 64 KiB. */
const maxCharacters = 40_000;

/** The types of resources and of what their fragments name, by IRI of the resource. @throws Refusal in the server's words */
export async function readTypes(
  iris: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const types = new Map<string, string[]>();
  for (const some of batches(iris))
    for (const { r, type } of (await select(queryFor(some), signal)) ?? [])
      types.set(r!.value, [...(types.get(r!.value) ?? []), type!.value]);
  return types;
}

const queryFor = (iris: readonly string[]): string => `SELECT DISTINCT ?r ?type {
  VALUES ?r { ${iris.map((iri) => `<${iri}>`).join(' ')} }
  GRAPH ?r { ?thing a ?type }
  FILTER(ISIRI(?type) && (?thing = ?r || STRSTARTS(STR(?thing), CONCAT(STR(?r), "#"))))
}`;

function batches(iris: readonly string[]): string[][] {
  const all: string[][] = [];
  let length = maxCharacters;
  for (const iri of iris) {
    if (length + iri.length > maxCharacters) {
      all.push([]);
      length = 0;
    }
    all.at(-1)!.push(iri);
    length += iri.length + 3;
  }
  return all;
}
