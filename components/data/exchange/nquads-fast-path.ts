/**
 * Parses the usual forms of N-Quads statements, ten times as fast as n3. n3 parses all other statements, because it supports
 * the whole syntax and reports errors.
 */
import type { Quad, Quad_Graph, Quad_Object, Quad_Subject } from '@rdfjs/types';
import type { DataFactory } from 'rdf-data-factory';
import { rdf } from '../../../lib/rdf/vocabulary.js';

/** Matches up to the end of the line. Groups: subject, predicate, object, the text with its language or datatype, graph. */
const usual =
  /[ \t]*(?:<([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*)>|_:([A-Za-z0-9_][A-Za-z0-9_-]*))[ \t]+<([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*)>[ \t]+(?:<([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*)>|_:([A-Za-z0-9_][A-Za-z0-9_-]*)|"([^"\\\r\n]*(?:\\[tbnrf"'\\][^"\\\r\n]*)*)"(?:@([A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)|\^\^<([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*)>)?)[ \t]+(?:<([A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]*)>[ \t]*)?\.[ \t]*(?:\r?\n|$)/y;

const escapes: Readonly<Record<string, string>> = { t: '\t', b: '\b', n: '\n', r: '\r', f: '\f' };
const unescaped = (text: string): string =>
  text.includes('\\') ? text.replace(/\\(.)/g, (_, letter: string) => escapes[letter] ?? letter) : text;

export class UsualStatements {
  /** Offset of the next line: the character after the last statement. */
  end = 0;
  // The last subject and graph, usually shared by successive statements. `iri` is the text: the factory may give the term another value.
  private subject: { readonly iri: string | undefined; readonly term: Quad_Subject } | undefined;
  private graph: { readonly iri: string | undefined; readonly term: Quad_Graph } | undefined;

  constructor(private readonly factory: DataFactory<Quad>) {}

  /**
   * Parses the statement on the line that begins at a character.
   * @returns `undefined` if it has an unusual form
   * @throws the errors of the factory
   */
  read(text: string, at: number): Quad | undefined {
    usual.lastIndex = at;
    const found = usual.exec(text);
    if (!found) return undefined;
    const { factory } = this;
    const [, subject, subjectLabel, predicate, , , , , datatype, graph] = found;
    // n3 rejects the datatypes of RDF that require a language.
    if (datatype?.startsWith(rdf.namespace)) return undefined;
    this.end = usual.lastIndex;
    if (subject === undefined) this.subject = { iri: subject, term: factory.blankNode(subjectLabel) };
    else if (this.subject?.iri !== subject) this.subject = { iri: subject, term: factory.namedNode(subject) };
    if (!this.graph || this.graph.iri !== graph)
      this.graph = { iri: graph, term: graph === undefined ? factory.defaultGraph() : factory.namedNode(graph) };
    return factory.quad(this.subject!.term, factory.namedNode(predicate!), this.object(found), this.graph.term);
  }

  private object([, , , , iri, label, text, language, datatype]: RegExpExecArray): Quad_Object {
    const { factory } = this;
    if (iri !== undefined) return factory.namedNode(iri);
    if (label !== undefined) return factory.blankNode(label);
    const kind = language ?? (datatype === undefined ? undefined : factory.namedNode(datatype));
    return factory.literal(unescaped(text!), kind);
  }
}
