/** From the text of a credential to the text of an XML document: raw, base64 or base64url, padded or not (rule 15.12). */
import { refuse } from './refusal.js';

/** The largest assertion considered, in bytes of UTF-8. One of an identity provider takes 3 to 10 KiB. */
export const maxBytes = 65_536;

const maxBase64Length = Math.ceil(maxBytes / 3) * 4;
const xmlStart = /^[ \t\r\n]*<[A-Za-z_?!]/;
const unreadable = 'The credential is no assertion in XML, base64 or base64url.';
const tooLarge = 'The assertion is too large.';

/** Whether a string begins as XML does, raw or in base64. It looks at the first 64 characters alone. */
export function looksLikeXml(credential: string): boolean {
  const head = credential.slice(0, 64);
  if (xmlStart.test(head)) return true;
  // A JWT begins with base64url of `{"`, so no credential of another suite passes.
  return /^[\w+/=-]+$/.test(head) && xmlStart.test(Buffer.from(head, 'base64').toString('latin1'));
}

/** @throws LwsError `invalid-token` for what is too large, in another alphabet or not UTF-8 */
export function decodeCredential(credential: string): string {
  if (!xmlStart.test(credential.slice(0, 64))) return decodeUtf8(decodeBase64(credential));
  const bytes = credential.length > maxBytes ? credential.length : Buffer.byteLength(credential);
  if (bytes > maxBytes) refuse(tooLarge, `at least ${bytes} bytes of XML, at most ${maxBytes} are read`);
  return credential;
}

/** Strict base64 (RFC 4648 3.2, 3.3, 3.5): one alphabet, padding complete or absent, no other character, no stray bits. */
function decodeBase64(credential: string): Buffer {
  if (credential.length > maxBase64Length)
    refuse(tooLarge, `${credential.length} characters of base64, at most ${maxBase64Length} are read`);
  const [, digits, padding] = /^([A-Za-z0-9+/]*|[\w-]*)(={0,2})$/.exec(credential) ?? [];
  if (digits === undefined || digits === '')
    refuse(unreadable, 'neither XML nor base64 nor base64url: a character is of no alphabet or of both');
  if (padding !== '' && credential.length % 4 !== 0) refuse(unreadable, 'the padding of the base64 is wrong');
  const bytes = Buffer.from(digits, 'base64');
  if (bytes.toString('base64url') !== digits.replaceAll('+', '-').replaceAll('/', '_'))
    refuse(unreadable, 'the base64 is cut off, or bits are left over at its end');
  return bytes;
}

function decodeUtf8(bytes: Buffer): string {
  try {
    // A byte order mark stays, so that the next check refuses it: what is read is what was sent.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return refuse('The assertion is not in UTF-8.', 'the bytes are not UTF-8');
  }
}
