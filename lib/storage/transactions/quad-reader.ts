/**
 * RDF/JS Source of all quads, read by quadstore's own class. Corrects its faults: iterators that stay open, swallowed errors,
 * terms of another type with the same characters, and patterns without an index.
 */
import { Readable } from 'node:stream';
import type { Quad, Source, Term } from '@rdfjs/types';
import { wrap } from 'asynciterator';
import { type Pattern, Quadstore, type TermName } from 'quadstore';
import { DataFactory } from 'rdf-data-factory';
import { stagedGraphs } from '../graphs/staged-keys.js';
import type { Level, LevelSnapshot } from '../level/durable-level.js';
import { quadstoreIndex } from '../level/quadstore-file.js';

const names: readonly TermName[] = ['subject', 'predicate', 'object', 'graph'];

const indexes = [[...quadstoreIndex]];

/** Reads quads from a given snapshot, or from a new one for each call. Write methods fail: only transactions write quads. */
export class QuadReader extends Quadstore implements Source<Quad> {
  constructor(
    private readonly level: Level,
    private readonly given?: LevelSnapshot,
  ) {
    super({
      backend: viewOf(level, {}) as never,
      dataFactory: new DataFactory<Quad>() as never,
      indexes,
    });
  }

  /** Reads the matching quads. @returns a stream that emits read errors, and closes its resources when destroyed */
  override match(
    ...[subject, predicate, object, graph]: Parameters<Quadstore['match']>
  ): ReturnType<Quadstore['match']> {
    const wanted = [subject, predicate, object, graph].map((term) =>
      term && term.termType !== 'Variable' ? term : undefined,
    );
    return wrap(Readable.from(this.matches(wanted)));
  }

  private async *matches(wanted: readonly (Term | undefined)[]): AsyncGenerator<Quad> {
    if (wanted[0]?.termType === 'Literal' || wanted[1]?.termType === 'Literal') return;
    const snapshot = this.given ?? this.level.snapshot();
    const backend = watched(this.level, snapshot);
    const own = new Quadstore({ backend: backend.level as never, dataFactory: this.dataFactory, indexes });
    try {
      const hidden = await stagedGraphs(this.level, snapshot);
      const { iterator } = await own.getStream(patternFor(wanted));
      // quadstore compares characters, so it also returns terms of other types with the same characters.
      for await (const quad of iterator as unknown as AsyncIterable<Quad>)
        if (names.every((name, at) => !wanted[at] || wanted[at].equals(quad[name])))
          if (!hidden.has(quad.graph.value)) yield quad;
      if (backend.failure) throw backend.failure;
    } finally {
      await backend.close();
      if (!this.given) await snapshot.close();
    }
  }

  /** Counts quads: quadstore's own method returns their size in LevelDB in bytes. */
  override async countQuads(...pattern: Parameters<Quadstore['countQuads']>): Promise<number> {
    let count = 0;
    for await (const _quad of this.match(...pattern)) count++;
    return count;
  }
}

/** Returns the terms of a pattern for quadstore: the bound prefix of the index. `match` compares the other terms. */
function patternFor(wanted: readonly (Term | undefined)[]): Pattern {
  const isBound = (name: TermName): boolean => {
    const term = wanted[names.indexOf(name)];
    // quadstore does not find all numbers and instants under the keys that it writes for them.
    return term !== undefined && !(term.termType === 'Literal' && hasOrder(term.datatype.value));
  };
  const end = quadstoreIndex.findIndex((name) => !isBound(name));
  const bound = end < 0 ? quadstoreIndex : quadstoreIndex.slice(0, end);
  return Object.fromEntries(bound.map((name) => [name, wanted[names.indexOf(name)]]));
}

/** Returns true for types whose keys begin with the value: numbers and times. */
const hasOrder = (datatype: string): boolean =>
  /^http:\/\/www\.w3\.org\/2001\/XMLSchema#(?:dateTime|float|double|decimal|(?:unsigned)?(?:Long|long|Int|int|Short|short|Byte|byte)|(?:non)?(?:Positive|positive|Negative|negative)?[iI]nteger)$/.test(
    datatype,
  );

/** Returns a proxy of the database that rejects writes. @param own methods to replace */
function viewOf(level: Level, own: Readonly<Record<string, unknown>>): Level {
  const methods = { ...own, batch: refuse, put: refuse, del: refuse, clear: refuse } as Readonly<
    Record<string, unknown>
  >;
  return new Proxy(level, {
    get(target, name) {
      if (Object.hasOwn(methods, name)) return methods[name as string];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const refuse = (): never => {
  throw new Error('Only transactions of the storage write quads.');
};

/** Returns the database as seen in a snapshot, for one read. Tracks open iterators, to close them, and their first error. */
function watched(level: Level, snapshot: LevelSnapshot) {
  const iterators: { close(): Promise<void> }[] = [];
  const state = {
    failure: undefined as unknown,
    level: viewOf(level, {
      iterator(options: object) {
        const iterator = level.iterator({ ...options, snapshot });
        iterators.push(iterator);
        const nextv = iterator.nextv.bind(iterator) as (size: number) => Promise<never>;
        const watching = (size: number): Promise<never> =>
          nextv(size).catch((error: unknown) => {
            state.failure ??= error;
            throw error;
          });
        return Object.assign(iterator, { nextv: watching });
      },
    }),
    close: async () => void (await Promise.all(iterators.map((iterator) => iterator.close()))),
  };
  return state;
}
