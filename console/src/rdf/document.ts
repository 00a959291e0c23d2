/** Parses Turtle to triples, and serializes triples as Turtle. Loaded on demand, with the parser. */
import N3Parser, { type Quad, type Term } from 'n3/src/N3Parser.js';

export type { Quad, Term };

export const xsd = 'http://www.w3.org/2001/XMLSchema#';
export const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
export const rdfType = `${rdf}type`;

export interface ParsedDocument {
  readonly quads: readonly Quad[];
  /** Namespaces by declared prefix. */
  readonly prefixes: Readonly<Record<string, string>>;
}

/** Parses Turtle. @param base IRI of the document @throws Error with the line number */
export function parseRdf(text: string, base: string): ParsedDocument {
  const prefixes: Record<string, string> = {};
  const onPrefix = (prefix: string, namespace: Term): void => {
    prefixes[prefix] = namespace.value;
  };
  return { quads: new N3Parser({ format: 'text/turtle', baseIRI: base }).parse(text, { onPrefix }), prefixes };
}

export const iriOf = (value: string): Term => ({ termType: 'NamedNode', value });

/** Returns the best literal for the reader: in the first of the browser's languages, or without a language. */
export function inLanguageOfReader(terms: readonly Term[]): string {
  const rank = ({ language = '' }: Term): number => {
    const at = navigator.languages.findIndex((each) => each.toLowerCase().split('-')[0] === language.split('-')[0]);
    return at >= 0 ? at : language === '' ? 1000 : 1001;
  };
  return terms.toSorted((a, b) => rank(a) - rank(b))[0]?.value ?? '';
}

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r' };
const escaped = (char: string): string => escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Returns subject, predicate and object of a triple term. Empty for any other term. */
export const termsIn = ({ subject, predicate, object }: Term): readonly Term[] =>
  subject && predicate && object ? [subject, predicate, object] : [];

/** Returns the language tag of a literal, with `--` and the base direction if there is one. */
export const tagOf = ({ language = '', direction }: Term): string =>
  direction ? `${language}--${direction}` : language;

/** Returns a text that identifies a term. */
export function termText(term: Term): string {
  const { termType, value, datatype } = term;
  if (termType === 'Quad') return `<<( ${termsIn(term).map(termText).join(' ')} )>>`;
  if (termType === 'NamedNode') return `<${value}>`;
  if (termType === 'BlankNode') return `_:${value}`;
  const text = `"${value.replace(/[\x00-\x1f"\\]/g, escaped)}"`;
  const language = tagOf(term);
  if (language) return `${text}@${language}`;
  return datatype && datatype.value !== `${xsd}string` ? `${text}^^<${datatype.value}>` : text;
}

/** Returns a triple in Turtle and SPARQL syntax. @throws Error for an IRI or language tag with characters that end it */
export function statementText(statement: Quad): string {
  const terms = [statement.subject, statement.predicate, statement.object];
  terms.forEach(assertWritable);
  return `${terms.map(termText).join(' ')} .\n`;
}

function assertWritable(term: Term): void {
  const { termType, value, datatype } = term;
  const iri = termType === 'NamedNode' ? value : (datatype?.value ?? '');
  if (/[\x00-\x20<>"{}|^`\\]/.test(iri)) throw new Error(`“${iri}” is not a valid IRI.`);
  const language = tagOf(term);
  if (language && !/^[a-z]+(?:-[a-z0-9]+)*(?:--(?:ltr|rtl))?$/i.test(language))
    throw new Error(`“${language}” is not a language tag.`);
  termsIn(term).forEach(assertWritable);
}

export const turtleOf = ({ quads, prefixes }: ParsedDocument): string =>
  Object.entries(prefixes)
    .map(([name, namespace]) => `@prefix ${name}: <${namespace}> .\n`)
    .concat(quads.map(statementText))
    .join('');

export interface Property {
  readonly predicate: Term;
  readonly objects: readonly Term[];
}
/** Properties that contain the name of their subject. */
export const labelPredicates = [
  'http://www.w3.org/2004/02/skos/core#prefLabel',
  'http://www.w3.org/2000/01/rdf-schema#label',
  'http://schema.org/name',
  'http://purl.org/dc/terms/title',
  'http://xmlns.com/foaf/0.1/name',
];

/** Returns the label of a subject from its properties, in the reader's language. Empty without a label. */
export const labelIn = (properties: readonly Property[]): string =>
  labelPredicates
    .map((name) => inLanguageOfReader(properties.find(({ predicate }) => predicate.value === name)?.objects ?? []))
    .find(Boolean) ?? '';
