/** Command line and owner credentials (rules 5.3, 18.1). spec/crash runs the executable. */
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { expandDidKey } from '../../../lib/authorization/did.js';
import { multikeyOf, readMultikey } from '../../../lib/authorization/multikey.js';
import { readCommandLine } from '../../../lib/server/cli.js';
import {
  keptIdentity,
  makeIdentity,
  readIdentity,
  signCredential,
} from '../../../lib/server/storage/owner-credential.js';
import { SettingsError } from '../../../lib/settings/settings.js';
import { startSpecServer } from '../../support/server.js';

describe('server/cli', () => {
  it('reads a command and flags in every spelling', () => {
    expect(readCommandLine(['check', '--a=b', '--c', 'd', '--e'])).to.deep.equal({
      command: 'check',
      operands: [],
      flags: { a: 'b', c: 'd', e: 'true' },
      bare: ['e'],
    });
    expect(readCommandLine([]).command).to.equal('serve');
    expect(readCommandLine(['--help']).command).to.equal('help');
    expect(readCommandLine(['a', 'b']).operands).to.deep.equal(['b']);
    expect(readCommandLine(['explain', '--as', 'urn:x', 'http://a/b']).operands).to.deep.equal(['http://a/b']);
  });
});

describe('server/owner-credential', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'quadpod-owner-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('keeps a key with mode 0600 and reads the same identity again (rule 5.1)', () => {
    const file = join(folder, 'keys', 'owner.key');
    const made = keptIdentity(file);
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(keptIdentity(file)).to.deep.equal(made);
    expect(readIdentity(file).did).to.match(/^did:key:z6Mk/);
  });

  it('rejects a file without a key, and leaves it unchanged', () => {
    const file = join(folder, 'not-a-key');
    for (const content of ['', '{}', '{"kty":"RSA"}']) {
      writeFileSync(file, content);
      expect(() => keptIdentity(file)).to.throw(SettingsError, file);
      expect(readFileSync(file, 'utf8')).to.equal(content);
    }
  });

  it('signs a credential whose kid names the method of the DID and whose aud is the storage ("Owner bootstrapping")', async () => {
    const identity = makeIdentity();
    const credential = await signCredential(identity, 'http://localhost:1', 60);
    const { sub, iss, client_id, aud, exp, iat } = decodeJwt(credential);
    expect([sub, iss, client_id]).to.deep.equal([identity.did, identity.did, identity.did]);
    expect([aud, exp! - iat!]).to.deep.equal(['http://localhost:1', 60]);
    expect(decodeProtectedHeader(credential).kid).to.equal(expandDidKey(identity.did)!.method);
  });

  it('round-trips Multikeys of both curves and rejects points off the curve', () => {
    const p256 = {
      kty: 'EC',
      crv: 'P-256',
      x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
      y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
    } as const;
    for (const key of [p256, makeIdentity().key]) {
      const { kty, crv, x } = key;
      expect(readMultikey(multikeyOf(key))).to.deep.include({ kty, crv, x });
    }
    expect(readMultikey(multikeyOf(p256))).to.deep.equal(p256);
    const off = multikeyOf({ ...p256, x: Buffer.alloc(32, 255).toString('base64url') });
    expect([off, 'z', 'zzz', 'did:key:z', `z${'1'.repeat(99)}`].map(readMultikey)).to.deep.equal(
      Array(5).fill(undefined),
    );
  });

  it('keeps the owner after a restart, and never logs the credential', async () => {
    const first = await startSpecServer();
    const owner = decodeJwt(first.ownerToken!).sub;
    await first.stop(true);
    const second = await startSpecServer({ again: first });
    const answer = await fetch(second.root, {
      headers: { authorization: `Bearer ${first.ownerToken}`, accept: 'application/lws+json' },
    });
    await second.stop();
    expect(answer.status).to.equal(200);
    expect(decodeJwt(second.ownerToken!).sub).to.equal(owner);
    const lines = JSON.stringify([...first.log, ...second.log]);
    expect(lines).to.contain(owner).and.not.to.contain(first.ownerToken!.split('.')[1]!);
  });
});
