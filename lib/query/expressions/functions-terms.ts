/** Functions on terms (SPARQL 1.1 17.4.2), and constructors of terms. */
import { randomUUID } from 'node:crypto';
import { isAbsoluteIri } from '../../rdf/iri.js';
import { resolveIri } from '../../rdf/resolve-iri.js';
import { rdf } from '../../rdf/vocabulary.js';
import { getOrMake } from '../../tools/collections.js';
import { isAllowed, partsOfTriple, tripleKey } from '../access/triple-terms.js';
import type { Evaluate, Row } from './evaluate.js';
import { binary, type Make, type Makes, unary } from './function-forms.js';
import {
  blankValue,
  datatypeOf,
  directionOf,
  iriValue,
  isLiteral,
  textValue,
  toToken,
  toValue,
  truth,
  typedValue,
  type Value,
} from './values.js';

const iri: Make = ([arg], { base }) => {
  return (row) => {
    const value = arg!(row);
    if (value?.kind === 'iri') return value;
    if (value?.kind !== 'string') return undefined;
    const text = resolveIri(value.text, base);
    return isAbsoluteIri(text) ? iriValue(text) : undefined;
  };
};

/** Prefix of the labels of new blank nodes: unique to this process, and not used in the store. */
const label = `n${randomUUID().replaceAll('-', '')}`;
let labels = 0;
const newNode = (): Value => blankValue(`${label}${(labels++).toString(36)}`);

/** Blank nodes of BNODE(label), by row and label. A row is the same object in all expressions. */
const nodesOfRows = new WeakMap<Row, Map<string, Value>>();

const nodeOf = (row: Row, name: string): Value =>
  getOrMake(
    getOrMake(nodesOfRows, row, () => new Map()),
    name,
    newNode,
  );

const bnode: Make = ([name]): Evaluate => {
  if (!name) return newNode;
  return (row) => {
    const value = name(row);
    return value?.kind === 'string' ? nodeOf(row, value.text) : undefined;
  };
};

/** Datatypes that STRDT rejects, because literals of these types need a language or a direction. */
const languageTypes: ReadonlySet<string> = new Set([rdf.langString, `${rdf.namespace}dirLangString`]);
/** Matches language tags that the store accepts. */
const languageTag = /^[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*$/;

/** Creates a function that returns one term of a triple term. A term of a computed triple term is charged as a string. */
const part = (at: number): Make =>
  unary(({ kind, text, termKey }) => {
    if (kind !== 'triple') return undefined;
    const value = toValue(partsOfTriple(text)[at]!);
    return termKey === undefined ? { ...value, termKey } : value;
  });

const triple: Make =
  (args): Evaluate =>
  (row) => {
    const [subject, predicate, object] = args.map((arg) => toToken(arg(row)));
    if (subject === undefined || predicate === undefined || object === undefined) return undefined;
    const parts = [subject, predicate, object] as const;
    return isAllowed(parts) ? { kind: 'triple', text: tripleKey(parts) } : undefined;
  };

const isIri = unary(({ kind }) => truth(kind === 'iri'));

export const termFunctions: Makes = {
  str: unary((value) => (value.kind === 'blank' || value.kind === 'triple' ? undefined : textValue(value.text))),
  lang: unary((value) => (isLiteral(value) ? textValue(value.language?.split('--')[0] ?? '') : undefined)),
  datatype: unary((value) => (isLiteral(value) ? iriValue(datatypeOf(value)!) : undefined)),
  isiri: isIri,
  isuri: isIri,
  isblank: unary(({ kind }) => truth(kind === 'blank')),
  isliteral: unary((value) => truth(isLiteral(value))),
  istriple: unary(({ kind }) => truth(kind === 'triple')),
  triple,
  subject: part(0),
  predicate: part(1),
  object: part(2),
  haslang: unary(({ language }) => truth(language !== undefined)),
  haslangdir: unary((value) => truth(directionOf(value) !== '')),
  langdir: unary((value) => (isLiteral(value) ? textValue(directionOf(value)) : undefined)),
  isnumeric: unary((value) => truth(value.kind === 'number' && value.number !== undefined)),
  iri,
  uri: iri,
  bnode,
  strdt: binary((text, type) =>
    text.kind === 'string' && type.kind === 'iri' && !languageTypes.has(type.text)
      ? typedValue(text.text, type.text)
      : undefined,
  ),
  // Language tags are case-insensitive. The parser converts the tags in a query to lower case, too.
  strlang: binary((text, tag) =>
    text.kind === 'string' && tag.kind === 'string' && languageTag.test(tag.text)
      ? textValue(text.text, tag.text.toLowerCase())
      : undefined,
  ),
  strlangdir: ([text, tag, direction]) => {
    return (row) => {
      const [of, language, to] = [text!(row), tag!(row), direction!(row)];
      if (of?.kind !== 'string' || language?.kind !== 'string' || to?.kind !== 'string') return undefined;
      const isValid = languageTag.test(language.text) && (to.text === 'ltr' || to.text === 'rtl');
      return isValid ? textValue(of.text, `${language.text.toLowerCase()}--${to.text}`) : undefined;
    };
  },
  uuid: () => () => iriValue(`urn:uuid:${randomUUID()}`),
  struuid: () => () => textValue(randomUUID()),
};
