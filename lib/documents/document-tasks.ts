/** Tasks on documents, which `documents.ts` runs directly or in a worker thread. Pure functions: bytes and keys in and out. */

import type { GraphDelta } from '../query/change-set.js';
import type { Bounds } from '../rdf/bounds.js';
import { UnknownContext } from '../rdf/contexts.js';
import type { RdfFormat } from '../rdf/formats.js';
import { keptLabels } from '../rdf/kept-labels.js';
import { parseRdf } from '../rdf/parse.js';
import { hasParts, parseInParts } from '../rdf/parse-in-parts.js';
import { boundedPrefixes } from '../rdf/prefixes.js';
import { serializeRdf } from '../rdf/serialize.js';
import { UnwritableError } from '../rdf/unwritable.js';
import {
  type DefaultTurtle,
  defaultTurtle,
  isLargeGraph,
  lineCounter,
  sizeOfTurtle,
} from '../storage/graphs/graph-lines.js';
import { allOf, type GraphKeys, type PackedKeys, packKeys } from '../storage/keys/graph-keys.js';
import { labelsInOrder, withLabels } from '../storage/keys/key-labels.js';
import { hasBlankNode } from '../storage/keys/key-layout.js';
import { compareKeys, sortKeys } from '../storage/keys/key-order.js';
import { KeyRuns } from '../storage/keys/key-runs.js';
import { decodeGraph } from '../storage/keys/quad-decoding.js';
import { encodeQuads, keyEncoder } from '../storage/keys/quad-keys.js';
import { type ErrorDetails, LwsError } from '../tools/errors.js';
import { decodeUtf8, parseJson } from '../tools/json/json.js';
import { type JsonPatch, patchJson } from '../tools/json/json-patch.js';

/** Stored form of a graph: ordered GSPO keys, prefixes, and the default Turtle, whose length is the resource size. */
export interface EncodedDocument<Keys extends GraphKeys = readonly string[]> extends DefaultTurtle {
  readonly keys: Keys;
  readonly prefixes: Readonly<Record<string, string>>;
}

/** Result if a document names a JSON-LD context that is neither built in nor provided. */
export interface MissingContext {
  readonly missing: string;
}

/** A `GraphDelta` with packed keys, for messages between threads. */
export interface PackedDelta extends Omit<GraphDelta, 'added' | 'removed'> {
  readonly added: Pick<PackedKeys, 'length' | 'chunks'>;
  readonly removed: Pick<PackedKeys, 'length' | 'chunks'>;
}

type Prefixes = Readonly<Record<string, string>>;

function encoded(keys: readonly string[], graph: string, given: Prefixes): EncodedDocument {
  const prefixes = boundedPrefixes(given);
  return { keys, prefixes, ...defaultTurtle({ keys }, graph, prefixes) };
}

/** Result of a worker for a large graph, with packed keys. Small graphs are not packed, even with long literals. */
export interface PackedDocument extends Omit<EncodedDocument, 'keys'> {
  readonly packed: Pick<PackedKeys, 'length' | 'chunks'>;
}

const packedDocument = ({ keys, ...document }: EncodedDocument): EncodedDocument | PackedDocument =>
  isLargeGraph(keys.length) ? { ...document, packed: packKeys(keys) } : { ...document, keys };

export interface GivenDocument {
  readonly bytes: Uint8Array;
  /** True if the caller does not use the bytes afterwards, so that they can be transferred to a thread. */
  readonly isTaken?: boolean;
  /** True if the caller needs the size of the Turtle, but not its text. */
  readonly sizeOnly?: boolean;
}

export interface ParseTask {
  readonly bytes: Uint8Array;
  readonly format: RdfFormat;
  readonly graph: string;
  /** True to return only the size of the Turtle, which takes half the time. */
  readonly sizeOnly?: boolean | undefined;
  readonly bounds?: Bounds | undefined;
  /** Fetched JSON-LD contexts, by IRI. */
  readonly contexts?: Readonly<Record<string, string>> | undefined;
}

export interface LabelTask {
  readonly lines: readonly string[];
  readonly count: number;
  readonly graph: string;
  readonly prefixes: Prefixes;
}

export type JsonTask = Pick<JsonPatch, 'bytes' | 'most'>;

/** Returns the error for an update that was stopped. @param details fields for the log */
export const endedUpdate = (details: ErrorDetails = {}): LwsError =>
  new LwsError(
    'update-timeout',
    'The update exceeded its time or memory limit. Nothing was changed. Make its WHERE more selective.',
    details,
  );

/** Maximum count of lines in one message between threads: receiving a long message blocks the receiver. */
export const linesAtATime = 4000;

/** Minimum size of documents that are parsed in parts, in bytes. */
const longBytes = 1 << 20;

/** True if a JSON Patch operation does not depend on existing members: it adds a named member to the top-level object. */
const addsMember = (operation: { readonly op?: unknown; readonly path?: unknown } | null): boolean =>
  operation?.op === 'add' && /^\/(?!\d+$|-$)[^/]*$/.test(String(operation.path));

export const tasks = {
  encoded,

  async parse({
    bytes,
    format,
    graph,
    sizeOnly,
    bounds,
    contexts,
  }: ParseTask): Promise<EncodedDocument | MissingContext> {
    const parsed = await parseRdf(bytes, format, { base: graph, bounds, contexts }).catch((error: unknown) => {
      if (error instanceof UnknownContext) return { missing: error.iri };
      throw error;
    });
    if ('missing' in parsed) return parsed;
    const { quads, prefixes } = parsed;
    const found = encodeQuads(graph, quads);
    const sorted = { keys: found.map(({ key }) => key), quads: found.map(({ quad }) => quad) };
    const { keys } = sorted;
    if (sizeOnly) return { keys, prefixes, size: sizeOfTurtle(sorted, graph, prefixes) };
    return { keys, prefixes, ...defaultTurtle(sorted, graph, prefixes) };
  },

  /** Parses a document in a worker thread. A large graph is returned packed, and its terms are not kept. Detaches `bytes`. */
  async parseLarge(task: ParseTask): Promise<EncodedDocument | PackedDocument | MissingContext> {
    const { bytes, format, graph, bounds } = task;
    if (bytes.length < longBytes || !hasParts(format)) {
      const parsed = await tasks.parse(task);
      return 'missing' in parsed || !isLargeGraph(parsed.keys.length) ? parsed : packedDocument(parsed);
    }
    const keyOf = keyEncoder(graph);
    const runs = new KeyRuns();
    const given = parseInParts(bytes, { format, base: graph, bounds }, (quads) => {
      for (const quad of quads) runs.add(keyOf(quad));
    });
    const count = lineCounter();
    let size = 0;
    const packed = runs.merged((key) => {
      size += count(key);
    });
    if (!isLargeGraph(packed.length)) return encoded(allOf(packed), graph, given);
    return { packed, prefixes: boundedPrefixes(given), size };
  },

  /**
   * Gives blank nodes the labels that they have in another graph (`keptLabels`).
   * @param task `lines`: first `count` keys of the other graph, then all keys of this graph
   * @returns the keys, and other members that differ from the given document
   */
  keepLabels({ lines, count, graph, prefixes }: LabelTask): Pick<EncodedDocument, 'keys'> & Partial<EncodedDocument> {
    const [others, all] = [lines.slice(0, count), lines.slice(count)];
    const own = all.filter(hasBlankNode);
    const keys = withLabels(all, labelsInOrder(others, own) ?? keptLabels(decodeGraph(others), decodeGraph(own)));
    // The Turtle depends on the order of the keys, but not on labels.
    const isSorted = keys.every((key, at) => at === 0 || compareKeys(keys[at - 1]!, key) < 0);
    return isSorted ? { keys } : encoded(sortKeys(keys), graph, prefixes);
  },

  render(task: {
    lines: readonly string[];
    format: RdfFormat;
    graph: string;
    prefixes: Prefixes;
  }): Uint8Array | undefined {
    const { lines, format, graph, prefixes } = task;
    try {
      return Buffer.from(serializeRdf(decodeGraph(lines), format, { base: graph, prefixes }));
    } catch (error) {
      if (error instanceof UnwritableError) return undefined;
      throw error;
    }
  },

  checkJson({ bytes, most }: JsonTask): void {
    parseJson(decodeUtf8(bytes), most);
  },

  readsContent({ bytes, most }: JsonTask): boolean {
    const operations = parseJson(decodeUtf8(bytes), most);
    return Array.isArray(operations) && !operations.every(addsMember);
  },

  patchJson: (task: JsonPatch): Uint8Array => patchJson(task),
};
