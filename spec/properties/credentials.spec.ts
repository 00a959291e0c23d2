/** Mutations of a valid credential, access token or proof are rejected (rule 15.3, RFC 7515). */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Answer, request } from '../support/http.js';
import { credential, ed25519Identity, p256Identity } from '../support/identity.js';
import { signingKey } from '../support/jwt.js';
import { accessToken, baseOf, bearer, form, requestToken } from '../support/oauth.js';
import { proof } from '../support/proofs.js';
import { type SpecServer, startSpecServer } from '../support/server.js';
import { runs } from '../support/speed.js';

const owner = ed25519Identity();
const second = p256Identity();
const key = signingKey('ES256');
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ ~%\0é'.split('');
const tried = { numRuns: runs(150) };
let s: SpecServer;

/** Position in a string, as a fraction of its length. */
const at = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const place = (share: number, text: string): number => Math.floor(share * text.length);

type Mutation = (token: string, other: string) => string;
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ where: at, by: fc.constantFrom(...alphabet) }).map(
    ({ where, by }): Mutation =>
      (token) =>
        `${token.slice(0, place(where, token))}${by}${token.slice(place(where, token) + 1)}`,
  ),
  fc.record({ where: at, by: fc.constantFrom(...alphabet) }).map(
    ({ where, by }): Mutation =>
      (token) =>
        `${token.slice(0, place(where, token))}${by}${token.slice(place(where, token))}`,
  ),
  fc.record({ where: at, length: fc.integer({ min: 1, max: 40 }) }).map(
    ({ where, length }): Mutation =>
      (token) =>
        token.slice(0, place(where, token)) + token.slice(place(where, token) + length),
  ),
  // Exchanges one part with that of another valid token.
  fc.integer({ min: 0, max: 2 }).map(
    (part): Mutation =>
      (token, other) =>
        token
          .split('.')
          .map((text, i) => (i === part ? other.split('.')[i]! : text))
          .join('.'),
  ),
  // Flips one bit of a decoded part.
  fc.record({ part: fc.integer({ min: 0, max: 2 }), where: at, bit: fc.integer({ min: 0, max: 7 }) }).map(
    ({ part, where, bit }): Mutation =>
      (token) => {
        const parts = token.split('.').map((text) => Buffer.from(text, 'base64url'));
        const bytes = parts[part]!;
        bytes[Math.floor(where * bytes.length)]! ^= 1 << bit;
        return parts.map((each) => each.toString('base64url')).join('.');
      },
  ),
  fc.constantFrom<Mutation>(
    (token) => token.split('.').reverse().join('.'),
    (token) => `${token}.`,
    (token) => token.split('.').slice(0, 2).join('.'),
    (token) => `${token.split('.').slice(0, 2).join('.')}.`,
    (token) => token.toLowerCase(),
    (token) => token.replaceAll('-', '+').replaceAll('_', '/'),
    (token) => `${token}${token}`,
  ),
);

/** Returns true if the signed bytes and the signature are the same: another encoding of the same token. */
function sameMeaning(one: string, two: string): boolean {
  const [first, again] = [one.split('.'), two.split('.')];
  const bytes = (text = ''): string => Buffer.from(text, 'base64url').toString('hex');
  const canonical = again.length === 3 && again.every((part) => /^[\w-]*$/.test(part));
  return canonical && first[0] === again[0] && first[1] === again[1] && bytes(first[2]) === bytes(again[2]);
}

/** Returns true if node:http accepts the text as a field value. */
const sendable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);

describe('Properties of credentials', () => {
  before(async () => {
    const rates = { 'rate-limit.failed-authentications': '0', 'rate-limit.token-requests': '0' };
    s = await startSpecServer({ settings: { owners: `${owner.did},${second.did}`, ...rates } });
  });
  after(() => s.stop());
  const resource = (): string => `${s.root}?page=1`;

  async function expectAllRefused(
    token: string,
    other: string,
    send: (mutated: string) => Promise<Answer>,
    status: number,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(mutation, async (mutate) => {
        const mutated = mutate(token, other);
        fc.pre(mutated !== token && mutated !== other && sendable(mutated) && !sameMeaning(token, mutated));
        const answer = await send(mutated);
        expect(answer.status, mutated).to.equal(status);
      }),
      tried,
    );
  }

  for (const id of [owner, second])
    it(`rejects every mutation of a self-signed credential (${id.alg}), as bearer and for token exchange`, async () => {
      const [token, other] = [credential(id, { aud: baseOf(s) }), credential(id, { aud: baseOf(s) })];
      for (const each of [token, other]) expect((await bearer(resource(), each)).status).to.equal(200);
      await expectAllRefused(token, other, (mutated) => bearer(resource(), mutated), 401);
      await expectAllRefused(token, other, (mutated) => requestToken(s, form(s, mutated)), 400);
    });

  it('rejects every mutation of an access token', async () => {
    const [token, other] = [await accessToken(s, owner), await accessToken(s, second)];
    for (const each of [token, other]) expect((await bearer(resource(), each)).status).to.equal(200);
    await expectAllRefused(token, other, (mutated) => bearer(resource(), mutated), 401);
  });

  it('rejects every mutation of a DPoP proof, and then accepts the proof itself', async () => {
    const token = await accessToken(s, owner, { DPoP: proof(key, `${s.root}.lws/token`, { method: 'POST' }) });
    const make = (): string => proof(key, s.root, { token });
    const [one, other] = [make(), make()];
    const present = (mutated: string): Promise<Answer> =>
      request(resource(), { headers: { Authorization: `DPoP ${token}`, DPoP: mutated } });
    await expectAllRefused(one, other, present, 401);
    expect([(await present(one)).status, (await present(other)).status]).to.deep.equal([200, 200]);
  });

  it('rejects every mutation of a bound access token with a matching proof', async () => {
    const DPoP = (): string => proof(key, `${s.root}.lws/token`, { method: 'POST' });
    const [token, other] = [
      await accessToken(s, owner, { DPoP: DPoP() }),
      await accessToken(s, second, { DPoP: DPoP() }),
    ];
    const present = (mutated: string): Promise<Answer> => {
      const headers = { Authorization: `DPoP ${mutated}`, DPoP: proof(key, s.root, { token: mutated }) };
      return request(resource(), { headers });
    };
    for (const each of [token, other]) expect((await present(each)).status).to.equal(200);
    await expectAllRefused(token, other, present, 401);
  });

  it('accepts another encoding of the same bytes as the same caller, or rejects it', async () => {
    const token = credential(owner, { aud: baseOf(s) });
    const [content, last] = [token.slice(0, -1), token.at(-1)!];
    for (const character of alphabet.slice(0, 64)) {
      const mutated = content + character;
      const same = character === last || sameMeaning(token, mutated);
      expect((await bearer(resource(), mutated)).status, character).to.be.oneOf(same ? [200, 401] : [401]);
    }
  });
});
