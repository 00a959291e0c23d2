/**
 * Stream of blocks that Comunica handles as a stream of single items. This server reads blocks, which saves an event and an
 * object per item.
 */
import { MetadataValidationState } from '@comunica/utils-metadata';
import { BufferedIterator } from 'asynciterator';

export class BlockStream<Block, Item> extends BufferedIterator<Item> {
  private stopping: Promise<void> | undefined;
  private isTaken = false;

  /** @param itemsOf converts a block to an iterable of its items */
  constructor(
    private readonly source: AsyncGenerator<Block>,
    private readonly itemsOf: (block: Block) => Iterable<Item>,
  ) {
    super({ autoStart: false, maxBufferSize: 256 });
  }

  /** Returns the stream as blocks. Items can then no longer be read. */
  blocks(): AsyncGenerator<Block> {
    this.isTaken = true;
    return this.source;
  }

  /** Sets the metadata that Comunica's source interface requires: an estimated count of items, and the bound variables. */
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
        // After the reader has closed the stream, the error is dropped.
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
