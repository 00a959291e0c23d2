/** Turtle as triples, and triples as Turtle. Loaded on demand, with the parser. */
import N3Parser, { type Quad, type Term } from 'n3/src/N3Parser.js';

export type { Quad, Term };

export const xsd = 'http://www.w3.org/2001/XMLSchema#';
export const rdf = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#';
export const rdfType = `${rdf}type`;

export interface RdfDocument {
  readonly quads: readonly Quad[];
  /** Namespaces by declared prefix. */
  readonly prefixes: Readonly<Record<string, string>>;
}

/** @param base IRI of the document @throws Error with the line */
export function parseDocument(text: string, base: string): RdfDocument {
  const prefixes: Record<string, string> = {};
  const onPrefix = (prefix: string, namespace: Term): void => {
    prefixes[prefix] = namespace.value;
  };
  return { quads: new N3Parser({ format: 'text/turtle', baseIRI: base }).parse(text, { onPrefix }), prefixes };
}

export const iriOf = (value: string): Term => ({ termType: 'NamedNode', value });

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r' };
const escaped = (char: string): string => escapes[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Term in Turtle and SPARQL. IRIs with invalid characters stay one term, which the server rejects. */
export function termText({ termType, value, language, datatype }: Term): string {
  if (termType === 'NamedNode') return `<${value.replace(/[\x00-\x20<>"{}|^`\\]/g, (char) => escaped(char))}>`;
  if (termType === 'BlankNode') return `_:${value}`;
  const text = `"${value.replace(/[\x00-\x1f"\\]/g, escaped)}"`;
  if (language) return `${text}@${language}`;
  return datatype && datatype.value !== `${xsd}string` ? `${text}^^${termText(datatype)}` : text;
}

const statementText = ({ subject, predicate, object }: Quad): string =>
  `${[subject, predicate, object].map(termText).join(' ')} .\n`;

export const turtleOf = ({ quads, prefixes }: RdfDocument): string =>
  Object.entries(prefixes)
    .map(([name, namespace]) => `@prefix ${name}: ${termText(iriOf(namespace))} .\n`)
    .concat(quads.map(statementText))
    .join('');
