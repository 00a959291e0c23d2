/** N-Quads of graphs, as they come. */
import type { Writable } from 'node:stream';
import { type Member, TextOutput, type Writer } from '../../../lib/component/exchange.js';
import { encodeGraph, lineWriter } from '../../../lib/component/graphs.js';
import { bracketed } from '../../../lib/component/writers.js';

const linesAtATime = 100;

/**
 * Writes each graph as quads in the canonical form of N-Quads, in the order of their keys, in the graph that its resource
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
    const line = lineWriter(end);
    const keys = member.keys ?? encodeGraph(this.of + member.path, member.quads);
    // A part may have long literals.
    for (let at = 0; at < keys.length; at += linesAtATime)
      await this.output.write(
        keys
          .slice(at, at + linesAtATime)
          .map(line)
          .join(''),
      );
  }

  end(): Promise<void> {
    return this.output.end();
  }
}
