/** Limits concurrent jobs, by caller class. */
import type { CallerClass } from '../authorization/authorizer.js';
import type { Client } from '../authorization/client.js';
import { tooBusy } from '../tools/errors.js';

export type SlotLimits = Readonly<Record<CallerClass, number>>;

export class Slots {
  private readonly taken = new Set<Client>();

  /**
   * @param total maximum jobs of each caller class, because a caller can have many identities
   * @param message error message if no slot is free
   * @param perClient maximum jobs of one client
   */
  constructor(
    private readonly total: SlotLimits,
    private readonly message: string,
    private readonly perClient: SlotLimits = total,
  ) {}

  /** Returns slots for jobs that only controllers can start. @param what name of the jobs, such as `imports` */
  static forControllers(count: number, what: string): Slots {
    const message = `The server has ${count} ${what} in progress. Try again later.`;
    return new Slots({ controller: count, known: 0, stranger: 0 }, message);
  }

  /** Acquires a slot. @returns a function that releases the slot @throws LwsError `too-busy` */
  take({ callerClass, client }: Client = { callerClass: 'controller', client: '' }): () => void {
    const others = [...this.taken].filter((each) => each.callerClass === callerClass);
    const own = others.filter((each) => each.client === client);
    if (others.length >= this.total[callerClass] || own.length >= this.perClient[callerClass])
      throw tooBusy(this.message, 60);
    const slot = { callerClass, client };
    this.taken.add(slot);
    return () => void this.taken.delete(slot);
  }
}
