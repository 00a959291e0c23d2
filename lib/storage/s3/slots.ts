/** A bounded number of things at once. It must not know what they are. */
import { LwsError } from '../../errors.js';

export class Slots {
  private readonly waiting = new Set<() => void>();
  private releases = 0;

  /** @param maxWaitMs milliseconds that one waits while nobody at all gives a slot back */
  constructor(
    private free: number,
    private readonly maxWaitMs: number,
  ) {}

  /** Waits for a slot, in turn. @returns what gives it back @throws LwsError `too-busy` when none becomes free */
  async take(): Promise<() => void> {
    if (this.free > 0) this.free--;
    else await this.turn();
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.releases++;
      const [next] = this.waiting;
      if (next) next();
      else this.free++;
    };
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
