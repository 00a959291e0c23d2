/** N-Quads of graphs, as they come. It must not know the store. */
import type { Writable } from 'node:stream';
import type { Quad, Term } from '@rdfjs/types';
import { bracketed, quotedLiteral, shortString } from '../../../lib/rdf/turtle-terms.js';
import type { Member, Writer } from '../member.js';
import { TextOutput } from './text-output.js';

/** Terms whose texts are remembered, of one graph. */
const maxTexts = 10_000;

/**
 * Writes each graph as quads in the canonical form of N-Quads, in the order in which they are given, in the graph that its resource
 * names. Labels of blank nodes stay as they are. Only graphs can be in a dump: all other members are passed over.
 */
export class DumpWriter implements Writer {
  private readonly output: TextOutput;

  /** @param of the IRI of the container that is exported */
  constructor(
    out: Writable,
    private readonly of: string,
    { isGzip = false }: { readonly isGzip?: boolean } = {},
  ) {
    this.output = new TextOutput(out, isGzip);
  }

  async write(member: Member): Promise<void> {
    if (member.kind !== 'rdf') return;
    const end = ` ${bracketed(this.of + member.path)} .\n`;
    const texts = new Map<string, string>();
    const iri = (value: string): string => {
      let text = texts.get(value);
      if (text === undefined) {
        if (texts.size >= maxTexts) texts.clear();
        text = bracketed(value);
        texts.set(value, text);
      }
      return text;
    };
    // A part may have long literals.
    for (const quads of slices(member.quads)) {
      let lines = '';
      for (const { subject, predicate, object } of quads)
        lines += `${termText(subject, iri)} ${iri(predicate.value)} ${termText(object, iri)}${end}`;
      await this.output.write(lines);
    }
  }

  end(): Promise<void> {
    return this.output.end();
  }
}

function* slices(quads: readonly Quad[]): Generator<readonly Quad[]> {
  for (let at = 0; at < quads.length; at += 100) yield quads.slice(at, at + 100);
}

function termText(term: Term, iri: (value: string) => string): string {
  if (term.termType === 'NamedNode') return iri(term.value);
  return term.termType === 'Literal' ? quotedLiteral(term, shortString, iri) : `_:${term.value}`;
}
