/**
 * The characters that may stand in an assertion, and what its references mean.
 *
 * Narrower than XML 1.0: without the C1 controls, and without U+0085 and U+2028, which the parser takes for line ends as XML 1.1 does while
 * a signer under XML 1.0 does not.
 */
import { refuseXml } from './refusal.js';

const forbidden = /[^\t\n\r\u0020-\u007e\u00a0-\u2027\u2029-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;
const reference = /&([^;&<]{0,10};?)/g;
const predefined = new Map([
  ['lt;', '<'],
  ['gt;', '>'],
  ['amp;', '&'],
  ['quot;', '"'],
  ['apos;', "'"],
]);

const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;

/** @throws LwsError `invalid-token` for NUL, other controls, lone surrogates and noncharacters */
export function assertCharacters(text: string): void {
  const [found] = forbidden.exec(text) ?? [];
  if (found !== undefined) refuseXml(`the character ${codeOf(found)} is not accepted`);
}

/**
 * A string with its references replaced (XML 1.0 4.1, 4.6).
 * @throws LwsError `invalid-token` for another entity than the five predefined ones, and for a forbidden character
 */
export const expandReferences = (text: string): string =>
  text.includes('&') ? text.replace(reference, (_, body: string) => predefined.get(body) ?? characterOf(body)) : text;

function characterOf(body: string): string {
  const [, decimal, hexadecimal] = /^#(?:(\d{1,7})|x([\dA-Fa-f]{1,6}));$/.exec(body) ?? [];
  if (decimal === undefined && hexadecimal === undefined)
    return refuseXml(`the reference ${JSON.stringify(`&${body}`)} is to no predefined entity and no character`);
  const code = decimal === undefined ? Number.parseInt(hexadecimal!, 16) : Number(decimal);
  if (code > 0x10ffff || forbidden.test(String.fromCodePoint(code)))
    return refuseXml(`the reference ${JSON.stringify(`&${body}`)} is to a character that is not accepted`);
  return String.fromCodePoint(code);
}
