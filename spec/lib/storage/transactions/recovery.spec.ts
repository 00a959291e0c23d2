/** Recovery: other users of LevelDB are resumed, whatever happens. */
import { expect } from 'chai';
import { Recovery, type RecoveryOptions } from '../../../../lib/storage/transactions/recovery.js';

/** A recovery whose LevelDB cannot be opened. */
function recovery(): Recovery {
  const level = { status: 'closed', location: '/nonexistent', close: () => Promise.reject(new Error('damaged')) };
  return new Recovery({ level, onTrouble() {}, onRecovery() {} } as unknown as RecoveryOptions);
}

describe('storage/recovery', () => {
  it('resumes others when the storage is closed before it could be opened', async () => {
    const failing = recovery();
    const calls: string[] = [];
    failing.pauses.push(async () => {
      calls.push('paused');
      return () => calls.push('resumed');
    });
    const failed = await failing['reopen']().then(
      () => false,
      () => true,
    );
    expect([failed, calls]).to.deep.equal([true, ['paused']]);
    await failing.stop();
    expect(calls).to.deep.equal(['paused', 'resumed']);
  });

  it('resumes others when one of them cannot be paused', async () => {
    const failing = recovery();
    const calls: string[] = [];
    failing.pauses.push(
      async () => () => calls.push('resumed'),
      () => Promise.reject(new Error('a file cannot be removed')),
    );
    const error = await failing['reopen']().catch((reason: Error) => reason);
    expect([String(error), calls]).to.deep.equal(['Error: a file cannot be removed', ['resumed']]);
  });
});
