/** Worker thread of `validator.ts`. Has no access to the store. Caches compiled shapes documents. */
import { LRUCache } from 'lru-cache';
import { blocksOf, type GraphKeys, PackedKeys } from '../../lib/storage/keys/graph-keys.js';
import { type Caller, serve } from '../../lib/tools/threads/worker-host.js';
import type { Result } from './model.js';
import { ShapesGraph } from './shapes-graph.js';
import { TokenGraph } from './token-graph.js';
import { Validation } from './validation.js';
import { UnusableShapes } from './vocabulary.js';

/** Keys of a graph in messages between threads, which do not preserve classes. */
export type SentKeys = readonly string[] | Pick<PackedKeys, 'length' | 'chunks'>;

/** Content of a version of a shapes document. */
export interface SentShapes {
  readonly keys: readonly string[];
  readonly prefixes: Readonly<Record<string, string>>;
}

interface Questions {
  /** Requests the content of a version from the main thread. */
  readonly shapes: (version: string) => SentShapes;
}

export interface Task {
  /** Versions of the shapes documents. */
  readonly versions: readonly string[];
  readonly graphs: readonly SentKeys[];
}

/** Results of each graph, the first reason why a document cannot be applied, or a sign that memory was insufficient. */
export type ValidationOutcome =
  | { readonly results: readonly (readonly Result[])[]; readonly warnings: readonly string[] }
  | { readonly unusable: { readonly version: string; readonly why: string } }
  | { readonly isTooComplex: true };

/** Maximum triples of the cached documents. */
const maxKept = 100_000;
const compiled = new LRUCache<string, ShapesGraph>({ maxSize: maxKept });

async function shapesOf(version: string, caller: Caller<Questions, never>): Promise<ShapesGraph> {
  const known = compiled.get(version);
  if (known) return known;
  const { keys, prefixes } = await caller.ask('shapes', version);
  const shapes = new ShapesGraph(new TokenGraph([keys]), prefixes);
  compiled.set(version, shapes, { size: keys.length + 1 });
  return shapes;
}

const functions = {
  async validate({ versions, graphs }: Task, caller: Caller<Questions, never>): Promise<ValidationOutcome> {
    const documents: ShapesGraph[] = [];
    let version = '';
    try {
      for (version of versions) documents.push(await shapesOf(version, caller));
      return {
        warnings: documents.flatMap(({ warnings }) => warnings),
        results: graphs.map((sent) => {
          const keys: GraphKeys = 'chunks' in sent ? new PackedKeys(sent.length, sent.chunks) : sent;
          const data = new TokenGraph(blocksOf(keys));
          return documents.flatMap((shapes) => new Validation(shapes, data).run());
        }),
      };
    } catch (error) {
      if (error instanceof UnusableShapes) return { unusable: { version, why: error.message } };
      // The call stack is exhausted, because shapes or data are too deep.
      if (error instanceof RangeError) return { isTooComplex: true };
      throw error;
    }
  },
};

export type ShapesFunctions = typeof functions;

serve(functions);
