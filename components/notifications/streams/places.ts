/** Limits of open streams. Anyone can create identities, so limits also apply per address and to unprivileged callers. */

import { inAllStorages, type Tally } from '../../../lib/authentication/tally.js';
import { type Client, clientFor } from '../../../lib/authorization/client.js';
import type { Access } from '../../../lib/authorization/principal.js';
import type { Platform } from '../../../lib/component/contract.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { clientOf } from '../../../lib/tools/fields/client-address.js';

type StreamLimits = Readonly<Record<'perSubject' | 'perAddress' | 'ofStrangers' | 'inAll', number>>;

interface Place {
  readonly subject: string | undefined;
  readonly address: string;
  readonly callerClass: Client['callerClass'];
}

export class StreamSlots {
  private readonly taken = new Set<Place>();
  private readonly tally: Tally;

  constructor(
    private readonly platform: Platform,
    private readonly limits: StreamLimits,
  ) {
    this.tally = platform.tally('streams');
  }

  get size(): number {
    return this.taken.size;
  }

  /** Acquires a slot for a stream. @returns an idempotent function that releases it @throws LwsError `too-many-requests` */
  async take(access: Access, from: string): Promise<() => void> {
    const { callerClass } = await clientFor(this.platform, access, from);
    const place = { subject: access.principal?.subject, address: clientOf(from), callerClass };
    this.assertRoom(place);
    this.taken.add(place);
    if (callerClass === 'stranger') this.tally.add(place.address, 1);
    return () => {
      if (this.taken.delete(place) && callerClass === 'stranger') this.tally.add(place.address, -1);
    };
  }

  private assertRoom({ subject, address, callerClass }: Place): void {
    const { perSubject, perAddress, ofStrangers, inAll } = this.limits;
    const taken = [...this.taken];
    type Said = readonly [who: string, setting: string, elsewhere?: number];
    const assertBelow = (most: number, counts: (place: Place) => boolean, said: Said): void => {
      const count = taken.filter(counts).length + (said[2] ?? 0);
      if (count < most) return;
      throw new LwsError('too-many-requests', `${said[0]} ${count} streams already (lws.streams.${said[1]}).`, {
        fields: { 'Retry-After': '60' },
      });
    };
    assertBelow(inAll, () => true, ['There are', 'max']);
    if (subject !== undefined)
      assertBelow(perSubject, (place) => place.subject === subject, ['You have', 'max-per-subject']);
    if (callerClass === 'controller') return;
    const isHere = (place: Place): boolean => place.address === address && place.callerClass !== 'controller';
    const { tally } = this;
    const isStranger = callerClass === 'stranger';
    assertBelow(perAddress, isHere, ['Your address has', 'max-per-address', isStranger ? tally.elsewhere(address) : 0]);
    if (!isStranger) return;
    const [isAlike, all] = [
      (place: Place) => place.callerClass === 'stranger',
      ['Unprivileged callers have', 'max-of-strangers'],
    ] as const;
    assertBelow(ofStrangers, isAlike, all);
    assertBelow(ofStrangers * inAllStorages, isAlike, [...all, tally.elsewhere()]);
  }
}
