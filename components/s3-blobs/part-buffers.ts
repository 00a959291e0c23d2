/**
 * A bounded number of buffers, which are used again: garbage of this size is collected late, and then uploads take several times the
 * memory.
 */
import { LwsError } from '../../lib/component/basics.js';

/** So many stay while nobody needs them. */
const maxIdle = 3;

export interface PartBuffer {
  readonly buffer: Buffer;
  /** Gives it back; harmless the second time. */
  release(): void;
}

export class PartBuffers {
  private readonly waiting = new Set<() => void>();
  private readonly idle: Buffer[] = [];
  private releases = 0;

  /**
   * @param free how many there may be
   * @param bytes of each
   * @param maxWaitMs milliseconds that one waits while nobody at all gives a buffer back
   */
  constructor(
    private free: number,
    private readonly bytes: number,
    private readonly maxWaitMs: number,
  ) {}

  /** Waits for a buffer, in turn. @throws LwsError `too-busy` when none becomes free */
  async take(): Promise<PartBuffer> {
    if (this.free > 0) this.free--;
    else await this.turn();
    const buffer = this.idle.pop() ?? Buffer.allocUnsafeSlow(this.bytes);
    let isTaken = true;
    const release = (): void => {
      if (isTaken) this.giveBack(buffer);
      isTaken = false;
    };
    return { buffer, release };
  }

  private giveBack(buffer: Buffer): void {
    if (this.idle.length < maxIdle) this.idle.push(buffer);
    this.releases++;
    const [next] = this.waiting;
    if (next) next();
    else this.free++;
  }

  private turn(): Promise<void> {
    return new Promise((resolve, reject) => {
      let seen = this.releases;
      const timer = setInterval(() => {
        if (seen === this.releases) settle(busy());
        seen = this.releases;
      }, this.maxWaitMs);
      const settle = (error?: Error): void => {
        clearInterval(timer);
        this.waiting.delete(settle);
        if (error) reject(error);
        else resolve();
      };
      this.waiting.add(settle);
    });
  }
}

const busy = (): LwsError =>
  new LwsError('too-busy', 'Too many large uploads are under way. Try again in a moment.', {
    fields: { 'Retry-After': '10' },
  });
