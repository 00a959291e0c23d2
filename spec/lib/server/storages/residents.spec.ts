/** Which storages of a deployment are open (rule 21.4): opened once by whoever comes first, closed for others and when idle. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LwsError } from '../../../../lib/errors.js';
import type { OpenStorage } from '../../../../lib/server/open-storage.js';
import { Residents } from '../../../../lib/server/storages/residents.js';

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
  let residents: Residents;

  const storage = (name: string): OpenStorage =>
    ({
      isBusy: () => busy.has(name),
      isFollowed: () => followed.has(name),
      close: async () => {
        events.push(`close ${name}`);
        return owing.has(name);
      },
    }) as unknown as OpenStorage;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-residents-'));
    now = 1_000_000;
    [followed, events, busy, failing, held] = [new Set(), [], new Set(), new Set(), new Map()];
    [owing, shut] = [new Set(), new Set()];
    residents = new Residents({
      maxOpen: 2,
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
      onFailure: (name) => events.push(`failure ${name}`),
    });
  });
  afterEach(async () => {
    await residents.closeAll();
    rmSync(folder, { recursive: true });
  });

  const visit = async (name: string, isKnown = false): Promise<void> => {
    const { end } = await residents.use(name, { isKnown });
    end();
  };
  const refusal = (name: string, isKnown = false): Promise<unknown> => visit(name, isKnown).catch((error) => error);

  it('one opening serves all who come meanwhile, and a mark is there until it is closed', async () => {
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

  it('who was used longest ago makes room; for somebody without a credential, after it was open for ten seconds', async () => {
    await visit('a');
    now += 1000;
    await visit('b');
    expect(await refusal('c'))
      .to.be.an.instanceOf(LwsError)
      .with.property('code', 'too-busy');
    now += 20_000;
    await visit('a');
    await visit('c');
    expect(events).to.have.members(['open a', 'open b', 'close b', 'open c']);
    expect(residents.counts).to.deep.equal({ opened: 3, evicted: 1 });
  });

  it('nobody without a credential takes the place of who was given something lately', async () => {
    for (const name of ['a', 'b']) {
      await visit(name, true);
      residents.known(name);
    }
    now += 20_000;
    expect(await refusal('c')).to.be.an.instanceOf(LwsError);
    await visit('c', true);
    expect(events).to.include('open c');
  });

  it('what is in use, or has work that nobody waits for, is not closed', async () => {
    const { end } = await residents.use('a');
    await visit('b');
    busy.add('b');
    now += 20_000;
    expect(await refusal('c', true)).to.be.an.instanceOf(LwsError);
    end();
    await visit('c', true);
    expect(events).to.include('close a').and.not.to.include('close b');
  });

  it('one that cannot be opened is not tried for half a minute, and hurts no other', async () => {
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

  it('one that nobody asks is closed, but not while somebody listens to it', async () => {
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

  it('a request that comes while it is closed opens it again', async () => {
    await visit('a');
    const closing = residents.close('a');
    const again = visit('a');
    await Promise.all([closing, again]);
    expect(events).to.deep.equal(['open a', 'close a', 'open a']);
  });

  it('takes 256 requests at once of one storage (rule 21.5)', async () => {
    const uses = await Promise.all(Array.from({ length: 256 }, () => residents.use('a')));
    expect(await refusal('a', true))
      .to.be.an.instanceOf(LwsError)
      .with.property('code', 'too-busy');
    uses[0]!.end();
    await visit('a');
  });

  it('an address gets its opening back when somebody with a credential was given something', async () => {
    let paid = 1;
    const back = (): void => void paid--;
    (await residents.use('a', { paid: back })).end();
    expect(paid).to.equal(1);
    residents.known('a');
    residents.known('a');
    expect(paid).to.equal(0);
  });

  it('those that were open when the process ended are opened again, as there is room', async () => {
    await residents.wake(['a', 'b', 'c']);
    expect(events).to.deep.equal(['open a', 'open b']);
    await residents.close('a');
    await visit('c');
    expect(events).to.deep.equal(['open a', 'open b', 'close a', 'open c']);
  });

  it('what has something to do when it is closed keeps its mark, and is opened again where it may be', async () => {
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

  it('who waits for one that is closed as soon as it is open has it opened again', async () => {
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

  it('what somebody begins to use is not closed for another at that moment', async () => {
    await visit('a');
    await visit('b');
    now += 20_000;
    await visit('b');
    const [used] = await Promise.all([residents.use('a'), visit('c')]);
    expect(events).to.include('close b').and.not.to.include('close a');
    used.end();
  });

  it('what is being closed takes no place', async () => {
    await visit('a');
    await visit('b');
    const closing = residents.close('a');
    await Promise.all([closing, visit('c')]);
    expect(events).to.have.members(['open a', 'open b', 'close a', 'open c']);
  });

  it('a change takes back that it could not be opened', async () => {
    failing.add('a');
    await refusal('a');
    failing.clear();
    await residents.close('a');
    await visit('a');
    expect(events.at(-1)).to.equal('open a');
  });
});
