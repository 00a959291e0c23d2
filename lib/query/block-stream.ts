/**
 * Blocks of what a plan gives, as the stream of single items that Comunica hands on. Who knows the plan takes the blocks, which spares an
 * event and an object for each item.
 */
import { MetadataValidationState } from '@comunica/utils-metadata';
import { BufferedIterator } from 'asynciterator';

export class BlockStream<Block, Item> extends BufferedIterator<Item> {
  private stopping: Promise<void> | undefined;
  private isTaken = false;

  /** @param itemsOf makes what a reader of single items gets */
  constructor(
    private readonly source: AsyncGenerator<Block>,
    private readonly itemsOf: (block: Block) => Iterable<Item>,
  ) {
    super({ autoStart: false, maxBufferSize: 256 });
  }

  /** All blocks, instead of the items. */
  blocks(): AsyncGenerator<Block> {
    this.isTaken = true;
    return this.source;
  }

  /** Says what Comunica's interface of sources asks for: how many items are expected, and which variables they bind. */
  announce(variables: readonly unknown[]): this {
    const metadata = {
      state: new MetadataValidationState(),
      cardinality: { type: 'estimate', value: 1 },
      requestTime: 0,
      variables: variables.map((variable) => ({ variable, canBeUndef: true })),
    };
    this.setProperty('metadata', metadata);
    return this;
  }

  override _read(_count: number, done: () => void): void {
    if (this.isTaken) {
      done();
      return;
    }
    this.source.next().then(
      (next) => {
        if (next.done) this.close();
        else for (const item of this.itemsOf(next.value)) this._push(item);
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
    this.stopping ??= this.source.return(undefined).then(
      () => {},
      () => {},
    );
  }
}
