/** Explains syntax errors of the SPARQL parser in terms of SPARQL, with line and column. */
import { commentToken, referenceToken, stringToken } from './sparql-tokens.js';

/** Error of the parser library Chevrotain for an unexpected token. */
interface TokenFault {
  readonly message: string;
  readonly token: { readonly image: string; readonly startOffset: number };
}

/** Error for an unexpected token, with the expected tokens. */
class UnexpectedToken extends Error {
  constructor(readonly fault: TokenFault) {
    super(fault.message);
  }
}

/** Error handler of the parser. The parser's messages use internal token names. @throws UnexpectedToken */
export const onParseErrors = ([first]: readonly unknown[]): never => {
  throw new UnexpectedToken(first as TokenFault);
};

const words: readonly (readonly [RegExp, string])[] = [
  [/^Var\d$/, 'a variable'],
  [/^IriRef$/, 'an IRI'],
  [/^PNameLn$/, 'a prefixed name'],
  [/^PNameNs$/, 'a prefix such as ex:'],
  [/^StringLiteral/, 'a string'],
  [/^(?:Integer|Decimal|Double)/, 'a number'],
  [/^(?:True|False)$/, 'true or false'],
  [/^(?:BlankNodeLabel|Anon|LSquare)$/, 'a blank node'],
  [/^BuiltIn/, 'a function'],
  [/^LCurly$/, '{'],
  [/^RCurly$/, '}'],
  [/^L?Paren|^Nil$/, '('],
  [/^RParen$/, ')'],
  [/^Dot$/, '.'],
  [/^Semi$/, ';'],
  [/^(?:Select|Construct|Describe|Ask|Where|Values|By|As|Limit|Offset|From|Filter|Optional)$/, ''],
];

/** Returns a text with the expected tokens. Empty if there would be too many. */
function expected({ message, token: { image } }: TokenFault): string {
  const [, one] = /--> ([^ ]+) <--/.exec(message) ?? [];
  const all = one !== undefined ? [one] : [...message.matchAll(/\[(\w+)/g)].map(([, name]) => name!);
  // Omits the second kind of prefixed names, and variables if a variable was found: the parser lists these everywhere.
  const names = all.filter(
    (name) => !(all.length > 1 && name === 'PNameNs') && !(/^[?$]/.test(image) && /^Var/.test(name)),
  );
  const said = new Set(
    names.map((name) => {
      const word = words.find(([pattern]) => pattern.test(name))?.[1];
      return word === undefined ? (/^\W+$/.test(name) ? name : undefined) : word || name.toUpperCase();
    }),
  );
  const known = [...said].filter((word) => word !== undefined);
  if (known.length === 0 || known.length > 7) return '';
  return `; expected ${known.length === 1 ? '' : `${known.slice(0, -1).join(', ')} or `}${known.at(-1)}`;
}

const prefixes: Readonly<Record<string, string>> = {
  dcterms: 'http://purl.org/dc/terms/',
  foaf: 'http://xmlns.com/foaf/0.1/',
  ldp: 'http://www.w3.org/ns/ldp#',
  lws: 'https://www.w3.org/ns/lws#',
  owl: 'http://www.w3.org/2002/07/owl#',
  rdf: 'http://www.w3.org/1999/02/22-rdf-syntax-ns#',
  rdfs: 'http://www.w3.org/2000/01/rdf-schema#',
  schema: 'http://schema.org/',
  skos: 'http://www.w3.org/2004/02/skos/core#',
  xsd: 'http://www.w3.org/2001/XMLSchema#',
};

/** Returns the offset of the first or last occurrence of a token outside of strings, comments and IRIs. */
function placeOf(text: string, token: string, isLast = false): number | undefined {
  const skipped = `${stringToken}|${commentToken}|<${referenceToken}>`;
  let at: number | undefined;
  for (const found of text.matchAll(new RegExp(`${skipped}|_:[\\w.-]*\\w|[\\w.-]*:|[?$]\\w+`, 'gs')))
    if (found[0] === token && (isLast || at === undefined)) at = found.index;
  return at;
}

/** Explanations of errors that the parser detects after parsing. `NAME` is replaced by the name in the parser's message. */
const faults: readonly (readonly [said: RegExp, what: string])[] = [
  [/^Variable (?<name>\S+) used more than once in SELECT/, '?NAME is selected twice'],
  [/^Variable used to bind is already bound \(\?(?<name>.*)\)$/, '?NAME is assigned by BIND but is already bound'],
  [/^Target id of 'AS' \(\?(?<name>.*)\) already used/, '?NAME is assigned both by AS and by a subquery'],
  [
    /^Detected reuse of blank node [^(]*\(_:(?<name>[^)]*)\)$/,
    '_:NAME is used in two groups of triples; use a variable',
  ],
  [/^Number of dataBlockValues .* few/, 'a row of VALUES has fewer values than variables'],
  [/^Number of dataBlockValues /, 'a row of VALUES has more values than variables'],
  [/^GROUP BY not allowed with wildcard/, 'a grouped query cannot use SELECT *; list the variables'],
  [/^Blank nodes are not allowed/, 'a blank node is not allowed here'],
];

interface Explained {
  readonly what: string;
  /** Offset in the text, if known. */
  readonly at: number | undefined;
}

function explained(text: string, error: Error): Explained {
  if (error instanceof UnexpectedToken) {
    const { image, startOffset } = error.fault.token;
    const isEnd = image === '';
    const found = isEnd ? 'unexpected end of the text' : `unexpected ${JSON.stringify(image.slice(0, 60))}`;
    return { what: found + expected(error.fault), at: isEnd ? text.length : startOffset };
  }
  const [, offset] = /^unexpected character: .* at offset: (\d+)/s.exec(error.message) ?? [];
  if (offset !== undefined) {
    // The offset may be within a word, after a keyword. The error starts at the beginning of the word.
    const before = /\b\w+$/.exec(text.slice(Math.max(0, Number(offset) - 60), Number(offset)))?.[0] ?? '';
    const at = Number(offset) - (/\w/.test(text[Number(offset)] ?? '') ? before.length : 0);
    const rest = text.slice(at, at + 200);
    const [word = ''] = /^[\w-]+|^./su.exec(rest) ?? [];
    if (/^["']/.test(rest)) return { what: 'a string begins here and does not end on its line', at };
    if (word.length === 1 && !/\w/.test(word)) return { what: `${JSON.stringify(word)} is not allowed here`, at };
    const isCalled = rest.slice(word.length).trimStart().startsWith('(');
    return { what: `${word.slice(0, 60)} is not a SPARQL ${isCalled ? 'function' : 'keyword'}`, at };
  }
  const [, prefix] = /^Unknown prefix: (.*)$/s.exec(error.message) ?? [];
  if (prefix !== undefined) {
    const known = Object.hasOwn(prefixes, prefix) ? ` <${prefixes[prefix]}>` : '';
    const hint = known === '' ? 'declare it with PREFIX' : `add the line PREFIX ${prefix}:${known}`;
    return { what: `the prefix ${prefix.slice(0, 60)}: is not declared; ${hint}`, at: placeOf(text, `${prefix}:`) };
  }
  for (const [said, what] of faults) {
    const found = said.exec(error.message);
    const name = found?.groups?.['name'] ?? '';
    const token = `${what.startsWith('_') ? '_:' : '?'}${name}`;
    if (found) return { what: what.replace('NAME', () => name), at: name ? placeOf(text, token, true) : undefined };
  }
  return { what: error.message.replace(/\s+/g, ' ').replace(/\.$/, '').slice(0, 300), at: undefined };
}

/** Explains a syntax error in one sentence. @param error error of the parser for the same text */
export function explainSyntax(text: string, error: Error): string {
  if (error instanceof RangeError) return 'it is nested too deeply.';
  const { what, at } = explained(text, error);
  if (at === undefined) return `${what}.`;
  const lines = text.slice(0, at).split(/\r\n|\r|\n/);
  return `${what} (line ${lines.length}, column ${lines.at(-1)!.length + 1}).`;
}
