/** Limits concurrent heavy work, shared by all storages of the process. */
import { tooBusy } from '../errors.js';

export class Semaphore {
  private taken = 0;

  /** @param what name of the work in messages: `imports` */
  constructor(
    private readonly most: number,
    private readonly what: string,
  ) {}

  /** Acquires a slot. @returns a function that releases it @throws LwsError `too-busy` */
  take(): () => void {
    if (this.taken >= this.most)
      throw tooBusy(`The limit of ${this.most} concurrent ${this.what} is reached. Retry later.`, 60);
    this.taken++;
    let isTaken = true;
    return () => {
      if (isTaken) this.taken--;
      isTaken = false;
    };
  }
}
