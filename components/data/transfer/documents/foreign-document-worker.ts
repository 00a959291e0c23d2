/** Thread in which rdf-parse reads a document, for `documentQuads`. The thread must not send requests. */
import { Readable } from 'node:stream';
import type { Quad } from '@rdfjs/types';
import { type ParseOptions, rdfParser } from 'rdf-parse';
import type { Document } from '../../../../lib/exchange/format.js';
import { Expansion, usualBounds } from '../../../../lib/rdf/bounds.js';
import { contextLoader } from '../../../../lib/rdf/contexts.js';
import { type Caller, serve } from '../../../../lib/tools/threads/worker-host.js';
import { quadLine } from '../../exchange/text-files.js';

const linesAtATime = 4000;
const load = contextLoader({});

/** Options that prevent requests: rdf-parse passes the keys of Comunica's `KeysRdfParseJsonLd` and `KeysInitQuery` on. */
const offline = {
  '@comunica/actor-rdf-parse-jsonld:documentLoader': {
    load: async (iri: string) => (await load(iri)).document,
  },
};

/** Parses a document and sends its triples as lines. @returns the prefixes */
async function read(
  { bytes, type, base }: Document,
  caller: Caller<unknown, readonly string[]>,
): Promise<Record<string, string>> {
  const expansion = new Expansion(bytes.length, usualBounds);
  const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  const options: ParseOptions = { contentType: type, baseIRI: base, ...offline };
  const prefixes: Record<string, string> = {};
  let lines: string[] = [];
  // Parse the text in one piece, so that the order of triples is stable.
  const quads = rdfParser.parse(Readable.from([text]), options);
  quads.on('prefix', (prefix: string, iri: string | { readonly value: string }) => {
    prefixes[prefix] = typeof iri === 'string' ? iri : iri.value;
  });
  await new Promise<void>((done, fail) => {
    quads.on('data', (quad: Quad) => {
      try {
        expansion.add(quad);
        if (quad.graph.termType !== 'DefaultGraph')
          throw new Error('It has named graphs, but a resource is a single graph');
        lines.push(quadLine(quad));
      } catch (error) {
        quads.destroy(error as Error);
      }
      if (lines.length < linesAtATime) return;
      caller.tell(lines);
      lines = [];
    });
    quads.once('end', done).once('error', fail);
  });
  caller.tell(lines);
  return prefixes;
}

const functions = { read };

export type ForeignDocumentFunctions = typeof functions;

serve(functions);
