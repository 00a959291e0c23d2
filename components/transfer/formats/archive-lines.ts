/** Turns members into lines of an archive, which are JSON objects, and back. */
import type { Quad } from '@rdfjs/types';
import type { DataFactory } from 'rdf-data-factory';
import {
  type AccessList,
  type BytesMember,
  type ContainerMember,
  type GraphMember,
  type Member,
  quadLine,
  quadLines,
  type ResourceMember,
  readQuadLines,
} from '../../../lib/component/exchange.js';
import { isObject, parseMediaType } from '../../../lib/component/fields.js';
import { IriRewriting, type Rewrite } from '../../../lib/component/level.js';
import { readContextObject } from '../../../lib/component/resources.js';
import { boundedPrefixes } from '../../../lib/component/writers.js';
import { longestTriples } from './archive-format.js';

export type Line = Readonly<Record<string, unknown>>;

/** Where the bytes of a content are. */
export type ArchivedContent = { readonly text: string } | { readonly base64: string } | { readonly file: string };

/** The properties that all lines of resources have. */
const commonLine = ({ path, kind, links, acl, created, modified, owner }: ResourceMember): Line => ({
  path,
  kind,
  created,
  modified,
  owner,
  links,
  acl: acl && { prefixes: acl.prefixes, triples: quadLines(acl.quads) },
});

export const containerLine = (member: ContainerMember): Line => commonLine(member);

/** Parts of a graph, none much longer than `longestTriples`. */
export function* graphLines(member: GraphMember): Generator<Line> {
  const { path, kind, quads, prefixes, hasMore } = member;
  let start: Line = { ...commonLine(member), prefixes };
  let triples = '';
  for (const quad of quads) {
    const line = quadLine(quad);
    if (triples !== '' && triples.length + line.length > longestTriples) {
      yield { ...start, triples, hasMore: true };
      start = { path, kind };
      triples = '';
    }
    triples += line;
  }
  yield { ...start, triples, hasMore };
}

export const bytesLine = (
  member: BytesMember,
  facts: { size: number; sha256: string },
  content: ArchivedContent,
): Line => ({
  ...commonLine(member),
  mediaType: member.mediaType,
  ...facts,
  ...content,
});

/** A content of an archive: its facts, and how it is opened. */
export interface Opened {
  readonly size: number;
  readonly sha256: string;
  readonly content: ArchivedContent;
}

/** Reads lines, with every IRI rewritten to that of the target. */
export class LineReader {
  private readonly rewriting: IriRewriting;

  /** @param place what makes and moves terms, and where members go */
  constructor(
    private readonly place: {
      readonly into: string;
      readonly rewrites: readonly Rewrite[];
      readonly factory: DataFactory<Quad>;
    },
    private readonly open: (opened: Opened) => AsyncIterable<Uint8Array>,
  ) {
    this.rewriting = new IriRewriting(place.rewrites);
  }

  /** @throws Error with the end of a sentence for what no archive has, or that of what its values are */
  member(line: Line, source: string): Member {
    if (line['kind'] === 'state') {
      const [key, value] = this.rewriting.entry(text(line, 'key'), text(line, 'value'));
      return { kind: 'state', source, key, value };
    }
    const path = text(line, 'path');
    const isContainer = path === '' || path.endsWith('/');
    const common = { ...this.common(line, path), path, source };
    const { kind } = line;
    if (kind === 'container' && isContainer) return { ...common, kind };
    if (kind === 'rdf' && !isContainer) return this.graph(line, { ...common, kind });
    if (kind === 'bytes' && !isContainer) return this.bytes(line, { ...common, kind });
    throw new Error(`${JSON.stringify(kind)?.slice(0, 100)} is no kind of member that can have this path.`);
  }

  private common(line: Line, path: string): Omit<ContainerMember, 'kind' | 'path' | 'source'> {
    const { links, owner } = line;
    const common: Record<string, unknown> = {};
    if (links !== undefined) common['links'] = this.rewriting.value(readContextObject(links, this.place.into + path));
    if (line['acl'] !== undefined) common['acl'] = this.accessList(object(line, 'acl'));
    if (owner !== undefined) common['owner'] = this.rewriting.iri(text(line, 'owner'));
    for (const name of ['created', 'modified']) if (line[name] !== undefined) common[name] = count(line, name);
    return common;
  }

  private accessList(line: Line): AccessList {
    return { quads: this.quads(line), prefixes: this.prefixes(line) };
  }

  private graph(line: Line, common: Omit<GraphMember, 'quads' | 'prefixes'>): GraphMember {
    const hasMore = line['hasMore'] === true ? { hasMore: true } : {};
    return { ...common, quads: this.quads(line), prefixes: this.prefixes(line), ...hasMore };
  }

  private quads(line: Line): Quad[] {
    return readQuadLines(text(line, 'triples'), this.place.factory);
  }

  private prefixes(line: Line): Readonly<Record<string, string>> {
    if (line['prefixes'] === undefined) return {};
    const found = Object.entries(object(line, 'prefixes')).filter(([, iri]) => typeof iri === 'string');
    return boundedPrefixes(this.rewriting.value(Object.fromEntries(found) as Record<string, string>));
  }

  private bytes(line: Line, common: Omit<BytesMember, 'mediaType' | 'open'>): BytesMember {
    const mediaType = text(line, 'mediaType');
    if (!parseMediaType(mediaType)) throw new Error(`${JSON.stringify(mediaType.slice(0, 100))} is no media type.`);
    const facts = { size: count(line, 'size'), sha256: text(line, 'sha256') };
    const opened = { ...facts, content: contentOf(line) };
    return { ...common, mediaType, ...facts, open: () => this.open(opened) };
  }
}

function contentOf(line: Line): ArchivedContent {
  if (line['text'] !== undefined) return { text: text(line, 'text') };
  if (line['base64'] !== undefined) return { base64: text(line, 'base64') };
  return { file: text(line, 'file') };
}

function text(line: Line, name: string): string {
  const value = line[name];
  if (typeof value !== 'string') throw new Error(`There is no text "${name}".`);
  return value;
}

function object(line: Line, name: string): Line {
  const value = line[name];
  if (!isObject(value)) throw new Error(`"${name}" is no object.`);
  return value;
}

function count(line: Line, name: string): number {
  const value = line[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new Error(`"${name}" is no number of the kind.`);
  return value as number;
}
