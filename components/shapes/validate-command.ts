/** `quadpod validate FILE --against FILE`: validates a file without a server, as a write would be. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { plain } from '../../lib/component/commands.js';
import type { CommandContext } from '../../lib/component/contract.js';
import { CommandError, LwsError } from '../../lib/errors.js';
import { mediaTypeOf } from '../../lib/exchange/media-types.js';
import { isRdfFormat } from '../../lib/rdf/formats.js';
import { parseRdf } from '../../lib/rdf/parse.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { violationsOf } from './report.js';
import { ShapesGraph } from './shapes-graph.js';
import { TokenGraph } from './token-graph.js';
import { maxResults, Validation } from './validation.js';
import { UnusableShapes } from './vocabulary.js';

/** Exit code for data that violate the shapes. */
const violated = 1;

export async function validateFile({ operands, flags, print }: CommandContext): Promise<number> {
  const { against } = flags;
  if (against === undefined) throw new CommandError('Name a file with shapes: --against FILE.');
  const [data, document] = [await graphIn(operands[0]!), await graphIn(against)];
  const results = new Validation(shapesOf(against, document), data.graph).run();
  for (const { severity, sentence } of results) print(plain(`${severity.split(/[/#]/).at(-1)!}: ${sentence}.`));
  const violations = violationsOf(results).length;
  const most = results.length === maxResults ? `The first ${maxResults} results, ` : '';
  print(`${most}violations: ${violations}, warnings and infos: ${results.length - violations}.`);
  return violations > 0 ? violated : 0;
}

function shapesOf(file: string, { graph, prefixes }: Awaited<ReturnType<typeof graphIn>>): ShapesGraph {
  try {
    return new ShapesGraph(graph, prefixes);
  } catch (error) {
    throw error instanceof UnusableShapes ? new CommandError(`${file}: ${error.message}`) : error;
  }
}

async function graphIn(file: string) {
  const format = mediaTypeOf(file);
  if (!existsSync(file)) throw new CommandError(`${file} does not exist.`);
  if (!isRdfFormat(format))
    throw new CommandError(`${file} is not RDF. Name a file that ends in .ttl, .nt, .jsonld or .rdf.`);
  const base = pathToFileURL(resolve(file)).href;
  try {
    const { quads, prefixes } = await parseRdf(readFileSync(file), format, { base });
    return { graph: new TokenGraph([encodeGraph(base, quads)]), prefixes };
  } catch (error) {
    throw error instanceof LwsError ? new CommandError(`${file}: ${error.message}`) : error;
  }
}
