/** Decodes `\u` escapes in names and IRIs. SPARQL allows them in all text (19.2), the parser only in strings and IRIs. Pure. */
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

/** Token: an escape to decode, or text to keep: a string, comment, IRI or escaped character. Other characters do not match. */
const token = new RegExp(
  `${stringToken}|${commentToken}|<${referenceToken}>|\\\\[^uU]|\\\\u([0-9A-Fa-f]{4})|\\\\U(0[0-9A-Fa-f]{7}|[0-9A-Fa-f]{8})`,
  'gs',
);
/** Matches characters that are not decoded, because the parser would not read them as part of a name. */
const reserved = /[\u0000-\u0020<>"'{}|^`\\#\ud800-\udfff]/;

/** Decodes escapes of characters that are allowed at their position. */
export function decodeEscapes(text: string): string {
  if (!/\\u/i.test(text)) return text;
  return text.replace(token, (all, short: string | undefined, long: string | undefined) => {
    const code = Number.parseInt(short ?? long ?? '', 16);
    if (!(code <= 0x10ffff)) return all;
    const character = String.fromCodePoint(code);
    return reserved.test(character) ? all : character;
  });
}
