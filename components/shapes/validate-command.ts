/** `quadpod validate FILE --against FILES`: validates a file like a write would, without a server. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { plain } from '../../lib/component/commands.js';
import type { CommandContext } from '../../lib/component/component.js';
import { mediaTypeOf } from '../../lib/exchange/media-types.js';
import { isRdfFormat } from '../../lib/rdf/formats.js';
import { parseRdf } from '../../lib/rdf/parse.js';
import { encodeGraph } from '../../lib/storage/keys/quad-keys.js';
import { CommandError, LwsError } from '../../lib/tools/errors.js';
import { violationsOf } from './report.js';
import { ShapesGraph } from './shapes-graph.js';
import { TokenGraph } from './token-graph.js';
import { maxResults, Validation } from './validation.js';
import { UnusableShapes } from './vocabulary.js';

/** Exit code if the data violates the shapes. */
const violated = 1;

export async function validateFile({ operands, flags, print }: CommandContext): Promise<number> {
  const { against } = flags;
  if (against === undefined) throw new CommandError('Name a file with shapes: --against FILE.');
  const [data, shapes] = [await graphIn(operands[0]!), shapesOf(against, await graphsIn(filesOf(against)))];
  for (const warning of shapes.warnings) print(plain(`${against}: ${warning}.`));
  const results = new Validation(shapes, data.graph).run();
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

/** Returns the files of a comma-separated list, or the RDF files of a directory. @throws CommandError if there are none */
function filesOf(against: string): readonly string[] {
  const named = existsSync(against) ? [against] : against.split(',').filter((file) => file !== '');
  return named.flatMap((file) => {
    if (!existsSync(file) || !statSync(file).isDirectory()) return [file];
    const files = readdirSync(file).filter((name) => isRdfFormat(mediaTypeOf(name)));
    if (files.length === 0) throw new CommandError(`The directory ${file} has no RDF files.`);
    return files.sort().map((name) => join(file, name));
  });
}

/** Returns the union of the graphs of files, because shapes of one file may refer to shapes of another. */
async function graphsIn(files: readonly string[]) {
  const keys = new Set<string>();
  let prefixes: Readonly<Record<string, string>> = {};
  for (const file of files) {
    const found = await keysIn(file, 'urn:quadpod:shapes');
    for (const key of found.keys) keys.add(key);
    prefixes = { ...found.prefixes, ...prefixes };
  }
  return { graph: new TokenGraph([[...keys]]), prefixes };
}

async function graphIn(file: string) {
  const { keys, prefixes } = await keysIn(file, pathToFileURL(resolve(file)).href);
  return { graph: new TokenGraph([keys]), prefixes };
}

/** Returns the GSPO keys and prefixes of a file. @param graph graph IRI for the keys */
async function keysIn(file: string, graph: string) {
  const format = mediaTypeOf(file);
  if (!existsSync(file)) throw new CommandError(`${file} does not exist.`);
  if (!isRdfFormat(format))
    throw new CommandError(`${file} is not RDF. Name a file that ends in .ttl, .nt, .jsonld or .rdf.`);
  const base = pathToFileURL(resolve(file)).href;
  try {
    const { quads, prefixes } = await parseRdf(readFileSync(file), format, { base });
    return { keys: encodeGraph(graph, quads), prefixes };
  } catch (error) {
    throw error instanceof LwsError ? new CommandError(`${file}: ${error.message}`) : error;
  }
}
