/** `\u` escapes of names and IRIs, which SPARQL allows everywhere (19.2) and the parser reads in strings and IRIs only. Pure. */
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

/** Strings, comments, IRIs and escaped characters of names, which stay, and escapes; any other character stands for itself. */
const token = new RegExp(
  `${stringToken}|${commentToken}|<${referenceToken}>|\\\\[^uU]|\\\\u([0-9A-Fa-f]{4})|\\\\U(0[0-9A-Fa-f]{7}|[0-9A-Fa-f]{8})`,
  'gs',
);
/** Characters that an escape cannot smuggle in: they would be read as something else than a part of a name. */
const reserved = /[\u0000-\u0020<>"'{}|^`\\#\ud800-\udfff]/;

/** The text with its escapes replaced where they stand for a character that is legal there. */
export function decodeEscapes(text: string): string {
  if (!/\\u/i.test(text)) return text;
  return text.replace(token, (all, short: string | undefined, long: string | undefined) => {
    const code = Number.parseInt(short ?? long ?? '', 16);
    if (!(code <= 0x10ffff)) return all;
    const character = String.fromCodePoint(code);
    return reserved.test(character) ? all : character;
  });
}
