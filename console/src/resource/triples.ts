/** Triples of a Turtle document by subject, with its own prefixes. Loaded with the first table. */
import N3Parser, { type Quad, type Term } from 'n3/src/N3Parser.js';
import { compact } from '../storage/labels.js';

export interface Node {
  readonly kind: 'iri' | 'blank' | 'literal';
  readonly value: string;
  /** Label. */
  readonly label: string;
  /** Language or datatype. */
  readonly note: string;
}
export interface Group {
  readonly subject: Node;
  readonly statements: readonly { readonly predicate: Node; readonly object: Node }[];
}

const xsdString = 'http://www.w3.org/2001/XMLSchema#string';
const rdfType = 'http://www.w3.org/1999/02/22-rdf-syntax-ns#type';

/** @throws Error with the line */
export function groupsOf(text: string, base: string): Group[] {
  const prefixes: Record<string, string> = {};
  const onPrefix = (prefix: string, namespace: Term): void => {
    prefixes[prefix] = namespace.value;
  };
  const quads = new N3Parser({ format: 'text/turtle', baseIRI: base }).parse(text, { onPrefix });
  const blanks = new Map<string, number>();
  const label = (iri: string): string => {
    if (iri === base) return '<> (this document)';
    if (iri.startsWith(`${base}#`)) return iri.slice(base.length);
    return compact(iri, prefixes);
  };
  const node = (term: Term): Node => {
    if (term.termType === 'Literal') return literal(term, label);
    if (term.termType === 'BlankNode') {
      const number = blanks.get(term.value) ?? blanks.size + 1;
      blanks.set(term.value, number);
      return { kind: 'blank', value: term.value, label: `blank node ${number}`, note: '' };
    }
    if (term.termType !== 'NamedNode') return { kind: 'literal', value: '', label: '(a triple)', note: '' };
    return { kind: 'iri', value: term.value, label: label(term.value), note: '' };
  };
  return grouped(quads, node);
}

function literal(term: Term, label: (iri: string) => string): Node {
  const datatype = term.datatype?.value ?? xsdString;
  const note = term.language ? `@${term.language}` : datatype === xsdString ? '' : label(datatype);
  return { kind: 'literal', value: term.value, label: term.value, note };
}

function grouped(quads: readonly Quad[], node: (term: Term) => Node): Group[] {
  const found = new Map<string, { subject: Node; statements: { predicate: Node; object: Node }[] }>();
  for (const { subject, predicate, object } of quads) {
    const key = `${subject.termType} ${subject.value}`;
    const group = found.get(key) ?? { subject: node(subject), statements: [] };
    found.set(key, group);
    const named = predicate.value === rdfType ? { ...node(predicate), label: 'a' } : node(predicate);
    group.statements.push({ predicate: named, object: node(object) });
  }
  // Named resources come first.
  const all = [...found.values()];
  const isBlank = ({ subject }: Group): boolean => subject.kind === 'blank';
  return [...all.filter((group) => !isBlank(group)), ...all.filter(isBlank)];
}
