/** Key of notifications: rotated by a command, with the old one published for some time. */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keptKey, readKey } from '../../../lib/server/storage/key-file.js';
import {
  oldVerificationMethod,
  rotateKey,
  verificationMethodOf,
} from '../../../lib/server/storage/verification-method.js';

describe('server/verification-method', () => {
  const storage = 'https://storage.example/';
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-webhook-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('publishes the old method from the next start until its last signature is older than five minutes', async () => {
    const [file, old] = [join(folder, 'webhook.key'), join(folder, 'webhook-old.key')];
    const first = await verificationMethodOf(keptKey(file), storage);
    expect(await oldVerificationMethod(old, storage, 0)).to.equal(undefined);
    rotateKey(file, old);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(statSync(old).mode & 0o777).to.equal(0o600);
    expect((await verificationMethodOf(readKey(file), storage)).id).not.to.equal(first.id);
    // The old key stopped signing at the first start after the rotation, however late.
    expect(await oldVerificationMethod(old, storage, 1_000_000)).to.deep.equal(first);
    expect(await oldVerificationMethod(old, storage, 1_299_000)).to.deep.equal(first);
    expect(JSON.stringify(first)).not.to.include('"d"');
    expect(await oldVerificationMethod(old, storage, 1_301_000)).to.equal(undefined);
    expect(() => statSync(old)).to.throw('ENOENT');
  });
});
