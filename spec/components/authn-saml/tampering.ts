/** Mutations of a credential, each of which must change it, and corpora of results. */
import { expect } from 'chai';
import { assertionXml } from './assertions.js';
import { signed } from './signing.js';
import { expectRefusal, provider } from './trust.js';

/** An accepted credential. */
export const credential = signed(assertionXml(), { signer: provider });

export const replace =
  (from: string | RegExp, to: string) =>
  (text: string): string => {
    const changed = text.replace(from, to);
    expect(changed, 'nothing was changed').not.to.equal(text);
    return changed;
  };

export const changed = (from: string | RegExp, to: string): string => replace(from, to)(credential);
export const preceded = (part: string): string => part + credential;
export const inside = (part: string): string => changed('<saml:Subject>', `<saml:Subject>${part}`);
export const attributed = (attributes: string): string => changed('<saml:Subject>', `<saml:Subject ${attributes}>`);

/** A rejected credential, and the reason. */
export type Corpus = Readonly<Record<string, readonly [string, RegExp]>>;

export function specify(title: string, corpus: Corpus): void {
  describe(`authn-saml: ${title}`, () => {
    for (const [name, [text, reason]] of Object.entries(corpus))
      it(`refuses ${name}`, () => expectRefusal(text, reason));
  });
}
