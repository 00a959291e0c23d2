/** Blocks of rows as the stream of bindings that Comunica reads. It must not know plans. */
import { BindingsFactory } from '@comunica/utils-bindings-factory';
import { MetadataValidationState } from '@comunica/utils-metadata';
import type { Term, Variable } from '@rdfjs/types';
import { BufferedIterator } from 'asynciterator';
import { DataFactory } from 'rdf-data-factory';
import { termCache } from './access/terms.js';
import type { Row, Slot } from './plan/plan.js';

type Bindings = ReturnType<BindingsFactory['bindings']>;

const dataFactory = new DataFactory();
const bindingsFactory = new BindingsFactory(dataFactory as never);

export class RowBindings extends BufferedIterator<Bindings> {
  private readonly blocks: AsyncGenerator<Row[]>;
  private readonly columns: readonly (readonly [Variable, Slot])[];
  private readonly termAt = termCache();
  private readonly finish: () => Promise<void>;
  private stopping: Promise<void> | undefined;

  /** @param end called once, when no more is read */
  constructor(
    blocks: AsyncGenerator<Row[]>,
    columns: readonly (readonly [name: string, slot: Slot])[],
    end: () => Promise<void>,
  ) {
    super({ autoStart: false, maxBufferSize: 256 });
    this.blocks = blocks;
    this.columns = columns.map(([name, slot]) => [dataFactory.variable(name), slot]);
    this.finish = end;
  }

  /** Closes it, and resolves when nothing is read any more. */
  end(): Promise<void> {
    this.close();
    return this.stopping ?? this.stop();
  }

  /** Says how many bindings are expected, without which nobody reads. */
  announce(cardinality: number): void {
    this.setProperty('metadata', {
      state: new MetadataValidationState(),
      cardinality: { type: 'estimate', value: cardinality },
      requestTime: 0,
      variables: this.columns.map(([variable]) => ({ variable, canBeUndef: false })),
    });
  }

  override _read(_count: number, done: () => void): void {
    this.blocks.next().then(
      (next) => {
        if (next.done) this.close();
        else for (const row of next.value) this._push(this.bindingsOf(row));
        done();
      },
      (error: Error) => {
        // Nobody waits for what has been ended.
        if (!this.stopping) this.destroy(error);
        done();
      },
    );
  }

  protected override _end(destroy: boolean): void {
    super._end(destroy);
    void this.stop();
  }

  private stop(): Promise<void> {
    this.stopping ??= this.blocks
      .return(undefined)
      .then(this.finish, this.finish)
      .catch(() => {});
    return this.stopping;
  }

  private bindingsOf(row: Row): Bindings {
    const entries: [Variable, Term][] = [];
    for (const [variable, slot] of this.columns) {
      const token = row[slot];
      if (token !== undefined) entries.push([variable, this.termAt(token)]);
    }
    return bindingsFactory.bindings(entries);
  }
}
