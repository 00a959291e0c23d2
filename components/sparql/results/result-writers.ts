/** Serializes query results row by row (SPARQL 1.2 JSON, XML, CSV and TSV). Terms of RDF 1.1 are written as in SPARQL 1.1. */
import type { Term } from '@rdfjs/types';
import { tripleTerm } from '../../../lib/rdf/turtle-terms.js';
import { xsd } from '../../../lib/rdf/vocabulary.js';
import type { ResultFormat } from '../protocol/protocol.js';

export type ResultRow = readonly (Term | undefined)[];

export interface ResultWriter {
  head(): string;
  row(row: ResultRow): string;
  end(): string;
  /** Returns a complete ASK result. */
  boolean(value: boolean): string;
}

export function resultWriter(format: ResultFormat, variables: readonly string[]): ResultWriter {
  if (format === 'application/sparql-results+json') return jsonWriter(variables);
  if (format === 'application/sparql-results+xml') return xmlWriter(variables);
  return format === 'text/csv' ? csvWriter(variables) : tsvWriter(variables);
}

function jsonWriter(variables: readonly string[]): ResultWriter {
  let first = true;
  const names = variables.map((name) => JSON.stringify(name));
  return {
    head: () => `{"head":{"vars":[${names.join(',')}]},"results":{"bindings":[`,
    row(row) {
      const members = row.flatMap((term, index) => (term ? [`${names[index]}:${jsonTerm(term)}`] : []));
      const text = `${first ? '' : ','}\n{${members.join(',')}}`;
      first = false;
      return text;
    },
    end: () => '\n]}}\n',
    boolean: (value) => `{"head":{},"boolean":${value}}\n`,
  };
}

function jsonTerm(term: Term): string {
  if (term.termType === 'Quad') {
    const { subject, predicate, object } = term;
    const members = Object.entries({ subject, predicate, object }).map(([name, each]) => `"${name}":${jsonTerm(each)}`);
    return `{"type":"triple","value":{${members.join(',')}}}`;
  }
  const value = JSON.stringify(term.value);
  if (term.termType === 'NamedNode') return `{"type":"uri","value":${value}}`;
  if (term.termType === 'BlankNode') return `{"type":"bnode","value":${value}}`;
  if (term.termType !== 'Literal') return `{"type":"literal","value":${value}}`;
  const direction = term.direction ? `,"its:dir":"${term.direction}"` : '';
  if (term.language)
    return `{"type":"literal","value":${value},"xml:lang":${JSON.stringify(term.language)}${direction}}`;
  if (term.datatype.value === xsd.string) return `{"type":"literal","value":${value}}`;
  return `{"type":"literal","value":${value},"datatype":${JSON.stringify(term.datatype.value)}}`;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\r': '&#13;',
};
/** Escapes a text for XML. Most control characters become U+FFFD, because XML 1.0 cannot represent them. */
const xml = (text: string): string =>
  text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd')
    .replace(/[&<>"\r]/g, (char) => escapes[char]!);

function xmlWriter(variables: readonly string[]): ResultWriter {
  const open = '<?xml version="1.0"?>\n<sparql xmlns="http://www.w3.org/2005/sparql-results#">\n';
  return {
    head: () =>
      `${open}<head>${variables.map((name) => `<variable name="${xml(name)}"/>`).join('')}</head>\n<results>\n`,
    row: (row) =>
      `<result>${row.map((term, index) => (term ? `<binding name="${xml(variables[index]!)}">${xmlTerm(term)}</binding>` : '')).join('')}</result>\n`,
    end: () => '</results>\n</sparql>\n',
    boolean: (value) => `${open}<head/>\n<boolean>${value}</boolean>\n</sparql>\n`,
  };
}

/** Internationalization Tag Set 2.0, which has the attribute for base directions. */
const its = 'xmlns:its="http://www.w3.org/2005/11/its" its:version="2.0"';

function xmlTerm(term: Term): string {
  if (term.termType === 'Quad') {
    const { subject, predicate, object } = term;
    const members = Object.entries({ subject, predicate, object });
    return `<triple>${members.map(([name, each]) => `<${name}>${xmlTerm(each)}</${name}>`).join('')}</triple>`;
  }
  const value = xml(term.value);
  if (term.termType === 'NamedNode') return `<uri>${value}</uri>`;
  if (term.termType === 'BlankNode') return `<bnode>${value}</bnode>`;
  if (term.termType !== 'Literal') return `<literal>${value}</literal>`;
  const direction = term.direction ? ` ${its} its:dir="${term.direction}"` : '';
  if (term.language) return `<literal xml:lang="${xml(term.language)}"${direction}>${value}</literal>`;
  if (term.datatype.value === xsd.string) return `<literal>${value}</literal>`;
  return `<literal datatype="${xml(term.datatype.value)}">${value}</literal>`;
}

function csvWriter(variables: readonly string[]): ResultWriter {
  const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const line = (cells: readonly string[]): string => `${cells.map(cell).join(',')}\r\n`;
  /** Returns the text of a term. A triple term has the text of TSV. */
  const text = (term: Term): string =>
    term.termType === 'Quad' ? tsvTerm(term) : term.termType === 'BlankNode' ? `_:${term.value}` : term.value;
  return {
    head: () => line(variables),
    row: (row) => line(row.map((term) => (term ? text(term) : ''))),
    end: () => '',
    boolean: (value) => line([String(value)]),
  };
}

function tsvWriter(variables: readonly string[]): ResultWriter {
  const line = (cells: readonly string[]): string => `${cells.join('\t')}\n`;
  return {
    head: () => line(variables.map((name) => `?${name}`)),
    row: (row) => line(row.map((term) => (term ? tsvTerm(term) : ''))),
    end: () => '',
    boolean: (value) => line([String(value)]),
  };
}

const tsvEscapes: Readonly<Record<string, string>> = {
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};
/** Numeric literals of Turtle, by datatype. */
const plainNumbers: Readonly<Record<string, RegExp>> = {
  [xsd.integer]: /^[+-]?\d+$/,
  [xsd.decimal]: /^[+-]?\d*\.\d+$/,
  [xsd.double]: /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)[eE][+-]?\d+$/,
};

/** Returns a term in Turtle syntax, with plain numbers. */
function tsvTerm(term: Term): string {
  if (term.termType === 'NamedNode') return `<${term.value}>`;
  if (term.termType === 'BlankNode') return `_:${term.value}`;
  if (term.termType === 'Quad') return tripleTerm<Term>(term, tsvTerm);
  const text = `"${term.value.replace(/[\t\n\r"\\]/g, (char) => tsvEscapes[char]!)}"`;
  if (term.termType !== 'Literal') return text;
  if (term.language) return `${text}@${term.language}${term.direction ? `--${term.direction}` : ''}`;
  const datatype = term.datatype.value;
  if (datatype === xsd.string) return text;
  return plainNumbers[datatype]?.test(term.value) ? term.value : `${text}^^<${datatype}>`;
}
