/** Turtle, TriG and N3 as a stream of quads, in bounded memory. */
import { EventEmitter } from 'node:events';
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { FilePiece } from '../../../lib/exchange/byte-source.js';
import { SyntaxFault } from '../../../lib/exchange/member.js';
import { LwsError } from '../../../lib/tools/errors.js';
import type { DocumentFactory } from './document-factory.js';

/** Maximum bytes without a triple, prefixes, and nested brackets: more than any dump has, and little memory. */
const [longestStatement, maxPrefixes, deepest] = [20 << 20, 10_000, 1_000];

export interface Quads {
  readonly quads: readonly Quad[];
  /** For each quad, the number of its last line. */
  readonly lines: readonly number[];
  /** Bytes of the source read so far. */
  readonly read: number;
  /** The prefixes so far, as written in the source. */
  readonly prefixes: Readonly<Record<string, string>>;
}

export interface QuadSyntax {
  /** The media type. */
  readonly format: string;
  /** The base IRI of relative references, if there is one. */
  readonly base?: string;
  /** The name of the file, for messages. */
  readonly name: string;
}

/** n3 callbacks missing from its types. */
interface Observer {
  onQuad(error: Error | null, quad: Quad | null): void;
  onPrefix(prefix: string, iri: { readonly value: string }): void;
  onToken(token: { readonly type: string; readonly line: number }): void;
}

const [opening, closing] = [new Set(['[', '(', '{', '<<', '<<(', '{|']), new Set([']', ')', '}', '>>', ')>>', '|}'])];

/** Yields the quads of each piece. @throws SyntaxFault with the line of the error, after the quads before this line */
export async function* streamedQuads(
  pieces: AsyncIterable<FilePiece>,
  syntax: QuadSyntax,
  factory: DocumentFactory,
): AsyncGenerator<Quads> {
  const reading = new Reading(syntax, factory);
  let last = 0;
  for await (const { bytes, read } of pieces) {
    last = read;
    yield* reading.take(() => reading.push(bytes), read);
  }
  yield* reading.take(() => reading.end(), last);
}

class Reading {
  private readonly text = new EventEmitter();
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private quads: Quad[] = [];
  private lines: number[] = [];
  private line = 1;
  private depth = 0;
  private declared = 0;
  private readonly prefixes: Record<string, string> = {};
  private unread = 0;
  private fault: SyntaxFault | undefined;

  constructor(
    private readonly syntax: QuadSyntax,
    private readonly factory: DocumentFactory,
  ) {
    const { format, base } = syntax;
    const options = { format, blankNodePrefix: '_:', factory: factory as never };
    const parser = new Parser(base === undefined ? options : { ...options, baseIRI: base });
    const observer: Observer = {
      onQuad: (error, quad) => {
        if (error) this.fail(error.message.replace(/ on line \d+\.?$/, ''), error);
        else if (quad && !this.fault) {
          this.quads.push(quad);
          this.lines.push(this.line);
          this.unread = 0;
        }
      },
      onPrefix: (prefix, { value }) => {
        this.prefixes[prefix] = value;
        if (++this.declared > maxPrefixes) this.fail(`There are more than ${maxPrefixes} prefixes`);
      },
      onToken: ({ type, line }) => {
        this.line = line;
        if (opening.has(type) && ++this.depth > deepest) this.fail(`More than ${deepest} brackets are open`);
        else if (closing.has(type)) this.depth--;
      },
    };
    parser.parse(this.text as never, observer as never);
  }

  push(bytes: Buffer): void {
    this.unread += bytes.length;
    this.factory.expectTermsOf(bytes.length);
    this.text.emit('data', this.decoded(bytes));
    if (this.unread > longestStatement) this.fail(`More than ${longestStatement} bytes contain no triple`);
  }

  end(): void {
    this.decoded();
    this.text.emit('end');
  }

  private decoded(bytes?: Buffer): string {
    try {
      return bytes ? this.decoder.decode(bytes, { stream: true }) : this.decoder.decode();
    } catch (cause) {
      this.fail('The following bytes are not UTF-8', cause as Error);
      return '';
    }
  }

  /** Calls `work`, and yields the quads that the parser found. @throws SyntaxFault of the parser, after these quads */
  *take(work: () => void, read: number): Generator<Quads> {
    try {
      if (!this.fault) work();
    } catch (error) {
      if (!(error instanceof LwsError)) throw error;
      this.fail(error.message, error);
    }
    const { quads, lines } = this;
    this.quads = [];
    this.lines = [];
    if (quads.length > 0) yield { quads, lines, read, prefixes: this.prefixes };
    if (this.fault) throw this.fault;
  }

  /** Keeps the first error. Later errors of n3 are consequences and are ignored. */
  private fail(message: string, cause?: Error): void {
    const line = (cause as { context?: { line?: number } } | undefined)?.context?.line ?? this.line;
    this.fault ??= new SyntaxFault(`${this.syntax.name}:${line}: ${message.slice(0, 300).replace(/\.$/, '')}.`, {
      cause,
    });
  }
}
