/** Open storages of a deployment (rule 21.4): opened once for concurrent requests, closed for others and if idle. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { OpenStorage } from '../../../../lib/server/storage/open-storage.js';
import { OpenStorages } from '../../../../lib/server/storages/open-storages.js';
import type { Seat } from '../../../../lib/server/storages/seats.js';
import { LwsError } from '../../../../lib/tools/errors.js';
import { until } from '../../../support/until.js';

const seatOf = (given: Partial<Seat> = {}): Seat => ({
  ...{ address: '192.0.2.1', callerClass: 'stranger', isJudged: true, isForToken: false },
  ...{ isUnfinished: () => false, isSending: () => false, interrupt: () => {}, abort: () => {} },
  ...given,
});
const owner = { callerClass: 'controller' } as const;

describe('Residents (rule 21.4)', () => {
  let folder: string;
  let now: number;
  let events: string[];
  let busy: Set<string>;
  let followed: Set<string>;
  let failing: Set<string>;
  let held: Map<string, () => void>;
  let owing: Set<string>;
  let shut: Set<string>;
  let guests: number;
  let residents: OpenStorages;

  const storage = (name: string): OpenStorage =>
    ({
      platform: { store: { bytes: 7 } },
      isBusy: () => busy.has(name),
      isFollowed: () => followed.has(name),
      close: async () => {
        events.push(`close ${name}`);
        return owing.has(name);
      },
    }) as unknown as OpenStorage;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-residents-'));
    [now, guests] = [1_000_000, 0];
    [followed, events, busy, failing, held] = [new Set(), [], new Set(), new Set(), new Map()];
    [owing, shut] = [new Set(), new Set()];
    residents = new OpenStorages({
      maxOpen: 2,
      get maxGuests() {
        return guests;
      },
      idleMs: 60_000,
      clock: () => now,
      isReady: (name) => !shut.has(name),
      async open(name) {
        events.push(`open ${name}`);
        if (held.has(name)) await new Promise<void>((resolve) => held.set(name, resolve));
        if (failing.has(name)) throw new Error('damaged');
        return storage(name);
      },
      markOf: (name) => join(folder, name),
      usageOf: (name) => join(folder, `${name}.used`),
      onFailure: (name) => events.push(`failure ${name}`),
    });
  });
  afterEach(async () => {
    await residents.closeAll();
    rmSync(folder, { recursive: true });
  });

  const visit = async (name: string, given: Partial<Seat> = {}): Promise<void> => {
    const { end } = await residents.use(name, seatOf(given));
    end();
  };
  const refusal = (name: string, given: Partial<Seat> = {}): Promise<unknown> =>
    visit(name, given).catch((error) => error);
  /** A request with an unfinished body. */
  const unfinished = (given: Partial<Seat> = {}): Seat & { readonly errors: LwsError[] } => {
    const errors: LwsError[] = [];
    const interrupt = (error: LwsError): void => void errors.push(error);
    return { ...seatOf({ isUnfinished: () => true, interrupt, ...given }), errors };
  };

  it('tell the used bytes of storages, also after they are closed', async () => {
    expect(residents.usedBytes('a')).to.equal(undefined);
    await visit('a');
    expect(residents.usedBytes('a')).to.equal(7);
    await residents.close('a');
    expect([residents.isOpen('a'), residents.usedBytes('a')]).to.deep.equal([false, 7]);
  });

  it('one open serves all concurrent requests, and its mark exists until it is closed', async () => {
    held.set('a', () => {});
    const visits = [visit('a'), visit('a'), visit('a')];
    await new Promise((resolve) => setImmediate(resolve));
    expect(existsSync(join(folder, 'a'))).to.equal(true);
    held.get('a')!();
    await Promise.all(visits);
    expect(events).to.deep.equal(['open a']);
    await residents.close('a');
    expect(events).to.deep.equal(['open a', 'close a']);
    expect(existsSync(join(folder, 'a'))).to.equal(false);
  });

  it('closes the least recently used storage to open another', async () => {
    await visit('a');
    now += 1000;
    await visit('b');
    now += 20_000;
    await visit('a');
    await visit('c');
    expect(events).to.have.members(['open a', 'open b', 'close b', 'open c']);
    expect(residents.counts).to.deep.equal({ opened: 3, evicted: 1 });
  });

  it('keeps storages used within a minute by authorized callers open when others request a storage', async () => {
    for (const name of ['a', 'b']) {
      await visit(name, owner);
      residents.known(name);
    }
    now += 20_000;
    expect(await refusal('c')).to.be.an.instanceOf(LwsError);
    await visit('c', owner);
    expect(events).to.include('open c');
  });

  it('opens an additional one until it is known if its caller is authorized', async () => {
    guests = 1;
    for (const name of ['a', 'b']) {
      await visit(name, owner);
      residents.known(name);
      now++;
    }
    await visit('c');
    await residents.close('c');
    expect(events).to.deep.equal(['open a', 'open b', 'open c', 'close c']);
    const { end } = await residents.use('d', seatOf());
    residents.known('d');
    end();
    await residents.close('a');
    expect(events.slice(4)).to.deep.equal(['open d', 'close a']);
  });

  it('opens storages for anonymous callers one at a time, in turn by address, and for others at once', async () => {
    held.set('a', () => {});
    const visits = [visit('a'), visit('b'), visit('c'), visit('d', { address: '192.0.2.2' })];
    await until(() => events.length > 0);
    await visit('e', owner);
    expect(events).to.deep.equal(['open a', 'open e']);
    held.get('a')!();
    await Promise.all(visits);
    expect(events.filter((each) => each.startsWith('open'))).to.deep.equal(
      ['a', 'e', 'd', 'b', 'c'].map((name) => `open ${name}`),
    );
  });

  it('ends the turn of a caller that proves to be authorized, and keeps none after a failure', async () => {
    const { end } = await residents.use('a', seatOf());
    const next = visit('b');
    residents.known('a');
    end();
    await next;
    failing.add('c');
    expect(await refusal('c')).to.be.an.instanceOf(LwsError);
    await visit('d');
    expect(events.at(-1)).to.equal('open d');
  });

  it('closes storages with unfinished requests of anonymous callers only, and responds to these', async () => {
    const slow = ['a', 'b'].map((name) => ({ name, seat: unfinished() }));
    for (const { name, seat } of slow) await residents.use(name, seat);
    await visit('c');
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).to.include('close a').and.not.to.include('close b');
    expect(slow.map(({ seat }) => seat.errors.map(({ code }) => code))).to.deep.equal([['too-busy'], []]);
  });

  it('keeps a storage open for unfinished requests of authorized callers, and of those being verified', async () => {
    await residents.use('a', unfinished(owner));
    const verified = unfinished({ isJudged: false });
    await residents.use('b', verified);
    expect(await refusal('c', owner)).to.be.an.instanceOf(LwsError);
    now += 3_000;
    await visit('c');
    expect(events).to.include('close b').and.not.to.include('close a');
  });

  it('a storage with requests or background work is not closed', async () => {
    const { end } = await residents.use('a', seatOf(owner));
    await visit('b');
    busy.add('b');
    now += 20_000;
    expect(await refusal('c', owner)).to.be.an.instanceOf(LwsError);
    end();
    await visit('c', owner);
    expect(events).to.include('close a').and.not.to.include('close b');
  });

  it('closes a storage for others in spite of a slow request of an anonymous caller, after a second', async () => {
    await residents.use('a', seatOf());
    busy.add('b');
    await visit('b');
    now += 900;
    expect(await refusal('c', owner)).to.be.an.instanceOf(LwsError);
    now += 200;
    await visit('c', owner);
    expect(events).to.include('close a').and.not.to.include('close b');
  });

  it('closes a storage for others in spite of unread responses to anonymous callers, and aborts these', async () => {
    const aborted: string[] = [];
    const sending = (given: Partial<Seat>): Seat =>
      seatOf({ isSending: () => true, abort: () => void aborted.push(given.callerClass ?? 'stranger'), ...given });
    await residents.use('a', sending({}));
    await residents.use('b', sending(owner));
    await visit('c', owner);
    expect(events).to.include('close a').and.not.to.include('close b');
    expect(aborted).to.deep.equal(['stranger']);
  });

  it('a storage that cannot be opened is retried after 30 seconds, and does not affect others', async () => {
    failing.add('a');
    expect(await refusal('a'))
      .to.be.an.instanceOf(LwsError)
      .with.property('code', 'too-busy');
    expect(await refusal('a')).to.be.an.instanceOf(LwsError);
    await visit('b');
    expect(events).to.deep.equal(['open a', 'failure a', 'open b']);
    failing.clear();
    now += 31_000;
    await visit('a');
    expect(events.at(-1)).to.equal('open a');
  });

  it('an idle storage is closed, unless a client is subscribed', async () => {
    await visit('a');
    await visit('b');
    followed.add('b');
    now += 61_000;
    residents['closeIdle']();
    await residents.close('a');
    expect(events).to.include('close a').and.not.to.include('close b');
    followed.clear();
    residents['closeIdle']();
    await residents.close('b');
    expect(events).to.include('close b');
  });

  it('a request during the close opens it again', async () => {
    await visit('a');
    const closing = residents.close('a');
    const again = visit('a');
    await Promise.all([closing, again]);
    expect(events).to.deep.equal(['open a', 'close a', 'open a']);
  });

  it('accepts 256 concurrent requests of one storage (rule 21.5)', async () => {
    const uses = await Promise.all(Array.from({ length: 256 }, () => residents.use('a', seatOf(owner))));
    expect(await refusal('a', owner))
      .to.be.an.instanceOf(LwsError)
      .with.property('code', 'too-busy');
    uses[0]!.end();
    await visit('a', owner);
  });

  it('allows 128 of these for an anonymous address, 192 for all anonymous callers, and 224 for callers without control (rule 21.5)', async () => {
    const take = async (count: number, given: Partial<Seat>): Promise<void> => {
      for (let each = 0; each < count; each++) await residents.use('a', seatOf(given));
      expect(await refusal('a', given)).to.be.an.instanceOf(LwsError);
    };
    await take(128, {});
    await take(64, { address: '192.0.2.2' });
    expect(await refusal('a', { address: '192.0.2.3' })).to.be.an.instanceOf(LwsError);
    await take(32, { address: '192.0.2.4', callerClass: 'known' });
    await take(32, owner);
  });

  it('counts no request whose response waits for its reader (rule 21.5)', async () => {
    for (let each = 0; each < 1000; each++) await residents.use('a', seatOf({ isSending: () => true }));
    for (let each = 0; each < 128; each++) await residents.use('a', seatOf());
    expect(await refusal('a')).to.be.an.instanceOf(LwsError);
    await visit('a', owner);
  });

  it('has separate slots for requests with a credential that is not verified yet (rule 21.5)', async () => {
    for (const at of [1, 2])
      for (let each = 0; each < 96; each++) await residents.use('a', seatOf({ address: `${at}` }));
    expect(await refusal('a', { address: '3' })).to.be.an.instanceOf(LwsError);
    const unverified = [{ isJudged: false }, { isForToken: true }];
    const seats: Seat[] = [];
    for (let each = 0; each < 64; each++) {
      seats.push(seatOf({ address: '3', ...unverified[each % 2]! }));
      await residents.use('a', seats.at(-1)!);
    }
    for (const each of unverified) {
      expect(await refusal('a', { address: '3', ...each })).to.be.an.instanceOf(LwsError);
      await visit('a', { address: '4', ...each });
    }
    // A verified caller without rights counts as an anonymous one, and so does a slow verification.
    for (const seat of seats) seat.isJudged = true;
    await visit('a', { address: '3', isJudged: false });
    now += 2_100;
    await visit('a', { address: '3', isForToken: true });
  });

  it('ends the oldest unfinished request if there is no slot for another (rule 21.5)', async () => {
    const slow = Array.from({ length: 192 }, (_, at) => unfinished({ address: `192.0.2.${at % 2}` }));
    for (const seat of slow) await residents.use('a', seat);
    await visit('a', { address: '192.0.2.3' });
    await visit('a', { address: '192.0.2.3' });
    expect(slow.map(({ errors }) => errors.length).indexOf(1)).to.equal(0);
    expect(slow.flatMap(({ errors }) => errors)).to.have.length(1);
  });

  it('refunds the open to the address’s rate limit after a successful request with a credential', async () => {
    let paid = 1;
    const back = (): void => void paid--;
    (await residents.use('a', seatOf(), back)).end();
    expect(paid).to.equal(1);
    residents.known('a');
    residents.known('a');
    expect(paid).to.equal(0);
  });

  it('storages that were open when the process ended are opened again, up to the limit', async () => {
    await residents.wake(['a', 'b', 'c']);
    expect(events).to.deep.equal(['open a', 'open b']);
    await residents.close('a');
    await visit('c');
    expect(events).to.deep.equal(['open a', 'open b', 'close a', 'open c']);
  });

  it('a storage closed with pending work keeps its mark, and is opened again if possible', async () => {
    await visit('a');
    owing.add('a');
    await residents.close('a');
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).to.deep.equal(['open a', 'close a', 'open a']);
    shut.add('a');
    await residents.close('a');
    expect(existsSync(join(folder, 'a'))).to.equal(true);
    expect(await refusal('a')).to.be.an.instanceOf(LwsError);
    expect(events.slice(3)).to.deep.equal(['close a']);
  });

  it('a request for one that is closed right after its open has it opened again', async () => {
    held.set('a', () => {});
    const waiting = visit('a');
    await new Promise((resolve) => setImmediate(resolve));
    const closing = residents.close('a');
    const open = held.get('a')!;
    held.delete('a');
    open();
    await Promise.all([waiting, closing]);
    expect(events).to.deep.equal(['open a', 'close a', 'open a']);
  });

  it('a storage that is being acquired is not closed for another', async () => {
    await visit('a');
    await visit('b');
    now += 20_000;
    await visit('b');
    const [used] = await Promise.all([residents.use('a', seatOf()), visit('c')]);
    expect(events).to.include('close b').and.not.to.include('close a');
    used.end();
  });

  it('a closing storage does not count', async () => {
    await visit('a');
    await visit('b');
    const closing = residents.close('a');
    await Promise.all([closing, visit('c')]);
    expect(events).to.have.members(['open a', 'open b', 'close a', 'open c']);
  });

  it('a change resets a failed open', async () => {
    failing.add('a');
    await refusal('a');
    failing.clear();
    await residents.close('a');
    await visit('a');
    expect(events.at(-1)).to.equal('open a');
  });
});
