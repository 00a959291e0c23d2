/** Writes graphs as Turtle files: grouped and readable if small, otherwise streamed with one triple per line. */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Quad } from '@rdfjs/types';
import { Parser } from 'n3';
import type { DataFactory } from 'rdf-data-factory';
import type { TreeSink } from '../../../lib/exchange/file-tree.js';
import type { GraphMember } from '../../../lib/exchange/member.js';
import { nTriplesWriter, writeTurtle } from '../../../lib/rdf/turtle-writer.js';
import { slices } from '../../../lib/tools/collections.js';

/** Maximum number of triples for readable Turtle. Larger graphs have one triple per line. */
const maxReadable = 20_000;

/** A large graph, whose parts are written immediately. */
interface Streamed {
  readonly file: PassThrough;
  readonly lines: (quads: readonly Quad[]) => string;
  readonly added: Promise<void>;
}

/** A graph whose parts are collected until it ends or becomes large. */
interface Waiting {
  readonly first: GraphMember;
  readonly quads: Quad[];
  prefixes: Readonly<Record<string, string>>;
}

export class TurtleFiles {
  private waiting: Waiting | undefined;
  private streamed: Streamed | undefined;

  /** @param of base of the member paths. References are relative if possible */
  constructor(
    private readonly sink: TreeSink,
    private readonly of: string,
  ) {}

  /** Writes a part of a graph, or all of it. @param fileOf returns the path of the file. Called once for each graph, with its first part */
  async write(member: GraphMember, fileOf: (first: GraphMember) => string): Promise<void> {
    if (this.streamed) return this.continueGraph(this.streamed, member);
    this.waiting ??= { first: member, quads: [], prefixes: {} };
    for (const quad of member.quads) this.waiting.quads.push(quad);
    this.waiting.prefixes = { ...this.waiting.prefixes, ...member.prefixes };
    const { first, quads, prefixes } = this.waiting;
    const isLarge = quads.length > maxReadable;
    if (member.hasMore && !isLarge) return;
    this.waiting = undefined;
    const options = { base: this.of + member.path, prefixes };
    const facts = first.modified === undefined ? {} : { modified: first.modified };
    const file = fileOf(first);
    if (!isLarge) return this.sink.add(file, Buffer.from(writeTurtle(quads, options)), facts);
    const stream = new PassThrough();
    const added = this.sink.add(file, stream, facts);
    // The next call awaits the promise and throws. Until then a rejection must not be reported as unhandled.
    added.catch(() => {});
    const streamed = { file: stream, lines: nTriplesWriter(), added };
    stream.write(writeTurtle([], options));
    await this.continueGraph(streamed, { ...member, quads });
  }

  private async continueGraph(streamed: Streamed, { quads, hasMore }: GraphMember): Promise<void> {
    this.streamed = hasMore ? streamed : undefined;
    for (const some of slices(quads, 1_000)) {
      const text = streamed.lines(some);
      if (!streamed.file.write(text))
        await Promise.race([new Promise((resolve) => streamed.file.once('drain', resolve)), streamed.added]);
    }
    if (hasMore) return;
    streamed.file.end();
    await streamed.added;
  }
}

/** Maximum length of collected text in characters before it is written. */
const maxWaiting = 64 << 10;

export class TextOutput {
  private readonly first: PassThrough | ReturnType<typeof createGzip>;
  private readonly sent: Promise<void>;
  private readonly failed: Promise<never>;
  private waiting = '';

  /** @param out stream, which `end` ends */
  constructor(out: Writable, isGzip = false) {
    this.first = isGzip ? createGzip({ level: 1 }) : new PassThrough();
    this.sent = pipeline(this.first as Readable, out);
    this.failed = this.sent.then(() => new Promise<never>(() => {}));
    // `write` and `end` throw the error. Until then, the rejection must not be reported as unhandled.
    this.failed.catch(() => {});
  }

  /** Writes a text. Returns when the next text may be written. @throws the errors of the output */
  async write(text: string): Promise<void> {
    this.waiting += text;
    if (this.waiting.length >= maxWaiting) await this.flush();
  }

  private async flush(): Promise<void> {
    const text = this.waiting;
    this.waiting = '';
    if (!this.first.destroyed && this.first.write(text)) return;
    await Promise.race([new Promise((resolve) => this.first.once('drain', resolve)), this.failed]);
  }

  async end(): Promise<void> {
    if (this.waiting !== '') await this.flush();
    this.first.end();
    await this.sent;
  }
}

/** Writes triples as lines, without their graph. */
export const quadLines = nTriplesWriter(true);

/** Returns a triple as a line. */
export const quadLine = (quad: Quad): string => quadLines([quad]);

/** Parses N-Triples. @param factory makes all terms, blank nodes by their labels @throws Error of n3 for invalid N-Triples */
export function readQuadLines(text: string, factory: DataFactory<Quad>): Quad[] {
  // This prefix keeps labels unchanged.
  const parser = new Parser({ format: 'application/n-triples', blankNodePrefix: '_:', factory: factory as never });
  return parser.parse(text) as Quad[];
}
