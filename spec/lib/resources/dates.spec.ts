/** Dates of states are monotonic, and no precondition on a date matches another state. */
import { expect } from 'chai';
import { stageLinks } from '../../../lib/resources/metadata.js';
import {
  assertPreconditions,
  type Dated,
  dateAfter,
  datedAnew,
  isNotModified,
  isStrongDate,
  undated,
} from '../../../lib/resources/preconditions.js';
import { latest } from '../../../lib/resources/seen-state.js';
import type { LwsError } from '../../../lib/tools/errors.js';
import { specStorage } from '../../support/storage.js';

const second = Date.UTC(2026, 0, 1);

describe('Date of a state', () => {
  it('increases even if the clock was set back (rule 8.5)', () => {
    expect(dateAfter({ modified: second + 500 }, second - 3_600_000)).to.deep.equal({
      modified: second + 501,
      sharesSecond: true,
    });
    expect(dateAfter({ modified: second + 999 }, second).modified).to.equal(second + 1000);
    expect(dateAfter({ modified: second }, second + 5000)).to.deep.equal({ modified: second + 5000 });
    const shared = { modified: second, sharesSecond: true } as const;
    expect(datedAnew(shared, second + 5000)).to.deep.equal({ modified: second + 5000 });
    expect(dateAfter(undefined, second)).to.deep.equal({ modified: second });
  });

  it('RFC 9110 13.1.4, 13.1.5: identifies a state if no other began within its second', () => {
    const isLetThrough = (state: Dated, date: number): boolean => {
      try {
        assertPreconditions({ ifUnmodifiedSince: date }, state, 'state');
        return true;
      } catch (error) {
        expect((error as LwsError).code).to.equal('precondition-failed');
        return false;
      }
    };
    const first: Dated = { modified: second + 100 };
    const again = dateAfter(first, second + 900);
    const later = dateAfter(again, second + 1500);
    expect([first, again, later].map((state) => isLetThrough(state, second))).to.deep.equal([true, false, false]);
    expect([first, again, later].map((state) => isStrongDate(state, second))).to.deep.equal([true, false, false]);
    expect(isLetThrough(again, second + 1000)).to.equal(true);
    expect(isLetThrough(later, second + 1000)).to.equal(true);
  });

  it('If-Modified-Since does not return 304 if a change has the same second as the given date (rule 8.3)', () => {
    const isFresh = (state: Dated, date: number): boolean => isNotModified({ ifModifiedSince: date }, 'tag', state);
    const first: Dated = { modified: second + 100 };
    // The clock is one hour slow.
    const again = dateAfter(first, second - 3_600_000);
    expect([first, again].map((state) => isFresh(state, second))).to.deep.equal([true, false]);
    expect(isFresh(again, second + 1000)).to.equal(true);
    expect(isFresh(undated, second + 1000)).to.equal(false);
  });

  it('the date of a listing is the latest of its entries, and detects two changes in one second (rule 8.3)', () => {
    const container: Dated = { modified: second + 100 };
    expect(latest(container, [{ modified: second - 5000 }])).to.deep.include({ modified: second + 100 });
    expect(latest(container, [{ modified: second + 100 }]).sharesSecond).to.equal(undefined);
    expect(latest(container, [{ modified: second + 700 }])).to.deep.equal({
      modified: second + 700,
      sharesSecond: true,
    });
    expect(latest(container, [{ modified: second + 5000 }, { modified: second }]).modified).to.equal(second + 5000);
  });

  it('the first write of a linkset is later than the resource, even if the clock was set back (rule 8.5)', async () => {
    const { storage, memory, dispose } = await specStorage();
    const iri = `${storage.rootIri}x`;
    const record = {
      iri,
      kind: 'binary',
      revision: 'r',
      mediaType: 'text/plain',
      size: 0,
      created: second,
      modified: second,
    } as const;
    await memory.store.transact((tx) => tx.putRecord(record));
    const written = await memory.store.transact((tx) =>
      stageLinks({ ...storage, clock: () => second - 3_600_000 }, tx, memory.store.record(iri)!, { author: 'Ada' }),
    );
    expect([written.linked, written.linkedSharesSecond]).to.deep.equal([second + 1, true]);
    await dispose();
  });
});
