/** Any change to the bytes of a valid credential is rejected or leaves its claims unchanged, within a time limit. */
import { expect } from 'chai';
import fc from 'fast-check';
import { LwsError } from '../../../lib/tools/errors.js';
import { isThorough, runs } from '../../support/speed.js';
import { alice, mallory, nameIdOf } from './assertions.js';
import { credential } from './tampering.js';
import { usual, verify } from './trust.js';

const base64 = Buffer.from(credential).toString('base64');

/** Undefined if it was rejected. Fails for another error, and for other claims. */
async function claimsKept(text: string): Promise<'refused' | 'kept'> {
  const outcome = await verify(text).catch((error: unknown) => error);
  if (outcome instanceof LwsError && outcome.code === 'invalid-token') return 'refused';
  expect(outcome, text).to.deep.equal(usual);
  return 'kept';
}

const position = fc.nat(credential.length - 1);
/** Text of an attacker: markup, references, claims, parts of the credential itself. */
const insertion = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.constantFrom(
    ...' \t\r\n<>&;"\'/=:!?[]-#x0A',
    '<!---->',
    '<![CDATA[]]>',
    '<?x?>',
    '&#10;',
    '&lt;',
    '&amp;',
    '</',
    '/>',
  ),
  fc.constantFrom(
    nameIdOf(mallory),
    mallory,
    alice,
    '_a1',
    ' ID="_a1"',
    ' xmlns="urn:x"',
    ' xmlns:saml="urn:x"',
    ' xml:lang="en"',
    'saml:',
    'ds:',
  ),
  fc.tuple(position, fc.nat(300)).map(([start, length]) => credential.slice(start, start + length)),
);
const edit = fc.tuple(position, fc.oneof(fc.constant(0), fc.nat(3), fc.nat(400)), fc.option(insertion, { nil: '' }));

const edited = (text: string, edits: readonly (readonly [number, number, string])[]): string =>
  edits.reduce(
    (result, [start, removed, added]) => result.slice(0, start) + added + result.slice(start + removed),
    text,
  );

describe('authn-saml: mutations', () => {
  it('keeps its claims or is refused if one byte is changed, removed or inserted, at every position, or every seventh in a quick run', async () => {
    const bare = credential.replace(/ /g, '');
    for (let at = 0; at < credential.length; at += isThorough ? 1 : 7) {
      const flipped = String.fromCharCode(credential.charCodeAt(at) ^ 1);
      for (const [removed, added] of [
        [1, ''],
        [1, flipped],
        [0, ' '],
      ] as const) {
        const text = edited(credential, [[at, removed, added]]);
        // Only spaces inside tags and in the base64 of the signature may be added or removed.
        if ((await claimsKept(text)) === 'kept') expect(text.replace(/ /g, '')).to.equal(bare);
      }
    }
  }).timeout(60_000);

  it('keeps its claims or is refused under any edits of its text', () =>
    fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 3 }), async (edits) => {
        await claimsKept(edited(credential, edits));
      }),
      { numRuns: runs(3000) },
    )).timeout(60_000);

  it('keeps its claims or is refused when bits of its bytes flip, base64 or not', () =>
    fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.tuple(position, fc.nat(7)), { minLength: 1, maxLength: 4 }),
        async (encoded, flips) => {
          const bytes = Buffer.from(encoded ? credential : base64);
          for (const [at, bit] of flips) bytes[at]! ^= 1 << bit;
          await claimsKept(encoded ? bytes.toString('base64') : bytes.toString('latin1'));
        },
      ),
      { numRuns: runs(2000) },
    )).timeout(60_000);

  it('refuses a credential that is truncated at any position', async () => {
    for (let length = 0; length < credential.length; length += 7)
      expect(await claimsKept(credential.slice(0, length)), String(length)).to.equal('refused');
    for (let length = 0; length < base64.length - 4; length += 7)
      expect(await claimsKept(base64.slice(0, length)), String(length)).to.equal('refused');
  });

  it('throws nothing but a refusal, for any text', () =>
    fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string({ unit: 'binary' }),
          fc.string().map((text) => `<${text}>`),
          fc.base64String(),
        ),
        async (text) => {
          expect(await claimsKept(text)).to.equal('refused');
        },
      ),
      { numRuns: runs(1000) },
    ));
});
