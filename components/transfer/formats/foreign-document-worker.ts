/** The thread in which rdf-parse reads one document, for `documentQuads`. It must not fetch anything. */
import { Readable } from 'node:stream';
import { parentPort } from 'node:worker_threads';
import type { Quad } from '@rdfjs/types';
import { type ParseOptions, rdfParser } from 'rdf-parse';
import { type FromWorker, linesAtATime, type ToWorker } from '../../../lib/component/threads.js';
import { contextLoader } from '../../../lib/component/vocabulary.js';
import { Expansion, usualBounds } from '../../../lib/component/writers.js';
import { quadLine } from './quad-lines.js';

/** What `documentQuads` asks for. */
interface Wanted {
  readonly bytes: Uint8Array;
  readonly type: string;
  readonly base: string;
}

const tell = (message: FromWorker): void => parentPort!.postMessage(message);
const load = contextLoader({});

/** The keys of Comunica's `KeysRdfParseJsonLd` and `KeysInitQuery`, which rdf-parse passes on. */
const offline = {
  '@comunica/actor-rdf-parse-jsonld:documentLoader': {
    load: async (iri: string) => (await load(iri)).document,
  },
};

parentPort!.on('message', (message: ToWorker) => {
  if (!('task' in message)) return;
  tell({ ready: true });
  // What it has loaded and cached goes with the thread.
  read(message.task.arguments as unknown as Wanted).then(
    (prefixes) => tell({ value: prefixes, isSpent: true }),
    (error: Error & { code?: string }) =>
      tell({ fault: { code: error.code, message: error.message, stack: error.stack } }),
  );
});

/** Sends the triples as lines. @returns the prefixes */
async function read({ bytes, type, base }: Wanted): Promise<Record<string, string>> {
  const expansion = new Expansion(bytes.length, usualBounds);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const options: ParseOptions = { contentType: type, baseIRI: base, ...offline };
  const prefixes: Record<string, string> = {};
  let lines: string[] = [];
  // In one piece, so that the order of triples is the same each time.
  const quads = rdfParser.parse(Readable.from([text]), options);
  quads.on('prefix', (prefix: string, iri: string | { readonly value: string }) => {
    prefixes[prefix] = typeof iri === 'string' ? iri : iri.value;
  });
  await new Promise<void>((done, fail) => {
    quads.on('data', (quad: Quad) => {
      try {
        expansion.add(quad);
        if (quad.graph.termType !== 'DefaultGraph')
          throw new Error('It has named graphs, and a resource is a single graph');
        lines.push(quadLine(quad));
      } catch (error) {
        quads.destroy(error as Error);
      }
      if (lines.length < linesAtATime) return;
      tell({ lines });
      lines = [];
    });
    quads.once('end', done).once('error', fail);
  });
  tell({ lines });
  return prefixes;
}
