/** Turns of unprivileged callers to have a storage opened: one at a time, round robin between addresses, with rests. */
import { tooBusy } from '../../tools/errors.js';

/** A turn. Its functions may be called repeatedly. */
export interface OpeningTurn {
  /** Ends it immediately. */
  end(): void;
  /** Ends it after a rest of three times its duration, at most 200 ms. */
  rest(): void;
}

interface Waiting {
  readonly address: string;
  readonly go: (turn: OpeningTurn) => void;
}

const [restFactor, longestRestMs] = [3, 200];

export class OpeningTurns {
  private waiting: Waiting[] = [];
  /** Last turn of each address, as a sequence number. */
  private readonly served = new Map<string, number>();
  private isTaken = false;
  private count = 0;

  constructor(private readonly waitMs: number) {}

  /** @throws LwsError `too-busy` after `waitMs` */
  take(address: string): OpeningTurn | Promise<OpeningTurn> {
    if (!this.isTaken) return this.begin(address);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiting = this.waiting.filter((each) => each !== own);
        reject(tooBusy('The storage is waiting for other storages to be opened.', 10));
      }, this.waitMs);
      const go = (turn: OpeningTurn): void => {
        clearTimeout(timer);
        resolve(turn);
      };
      const own = { address, go };
      this.waiting.push(own);
    });
  }

  private begin(address: string): OpeningTurn {
    this.isTaken = true;
    this.served.set(address, ++this.count);
    const began = performance.now();
    let timer: NodeJS.Timeout | undefined;
    let isOver = false;
    const end = (): void => {
      clearTimeout(timer);
      if (!isOver) this.next();
      isOver = true;
    };
    const rest = (): void => {
      timer ??= setTimeout(end, Math.min(longestRestMs, restFactor * (performance.now() - began))).unref();
    };
    return { end, rest };
  }

  private next(): void {
    const order = ({ address }: Waiting): number => this.served.get(address) ?? 0;
    const [first] = this.waiting.toSorted((one, other) => order(one) - order(other));
    this.isTaken = first !== undefined;
    if (first) {
      this.waiting = this.waiting.filter((each) => each !== first);
      first.go(this.begin(first.address));
    } else this.served.clear();
  }
}
