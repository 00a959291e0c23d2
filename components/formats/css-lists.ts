/** Access control lists and descriptions in the data folder of a Community Solid Server 7. */

import {
  type AccessList,
  type FileTree,
  type RdfPart,
  rdfParts,
  rdfTypeOf,
  SyntaxFault,
  type TreeFile,
} from '../../lib/component/exchange.js';
import type { Rewrite } from '../../lib/component/level.js';
import { acl as vocabulary } from '../../lib/component/vocabulary.js';
import { type CssMetadata, readMetadata } from './css-metadata.js';
import { cssPathOf, cssTypeOf, withoutMark } from './css-names.js';

/** Where IRIs of the folder go. */
export interface CssPlace {
  /** The IRI that the folder had on its server, or where that is not known the one that it gets. */
  readonly base: string;
  /** The IRI that it gets. */
  readonly into: string;
  readonly rewrite: readonly Rewrite[];
}

export class CssLists {
  /** Lists that are not named as lists usually are: stored in another syntax, or refused by the tree, which has no file for them. */
  private readonly unusual = new Map<string, string>();

  constructor(
    private readonly tree: FileTree,
    private readonly place: CssPlace,
  ) {}

  /** Is told of each name in the tree before anything is read. */
  note(path: string, isRefused: boolean): void {
    const plain = withoutMark(path);
    if (plain.endsWith('.acl') && (isRefused || plain !== path)) this.unusual.set(plain, path);
  }

  /**
   * The list of a resource; `undefined` where it has none. One that cannot be read gives access to nobody: without any, the resource
   * would be open to whom the containers above it are.
   * @param path in the tree, without a mark
   */
  async listOf(path: string): Promise<AccessList | undefined> {
    const name = `${path}.acl`;
    const file = await this.tree.file(this.unusual.get(name) ?? name);
    if (file === undefined) return this.unusual.has(name) ? { quads: [], prefixes: {} } : undefined;
    const found = await this.listIn(file);
    return found instanceof SyntaxFault ? { quads: [], prefixes: {} } : found;
  }

  /** What is in a file that is a list; the fault where it cannot be read. */
  async listIn(file: TreeFile): Promise<AccessList | SyntaxFault> {
    const found = await this.graphIn(file, cssPathOf(withoutMark(file.path)));
    return found instanceof SyntaxFault ? found : { quads: found.quads, prefixes: found.prefixes };
  }

  /** @param path in the tree, without a mark; @param resource the path of the resource */
  async metadataOf(path: string, resource: string): Promise<CssMetadata | undefined> {
    const file = await this.tree.file(`${path}.meta`);
    const found = file && (await this.metadataIn(file, resource));
    return found instanceof SyntaxFault ? undefined : found;
  }

  /** What a file says of a resource; the fault where it cannot be read. */
  async metadataIn(file: TreeFile, resource: string): Promise<CssMetadata | SyntaxFault> {
    const found = await this.graphIn(file, resource);
    return found instanceof SyntaxFault ? found : readMetadata(found.quads, this.place.into + resource);
  }

  private async graphIn(file: TreeFile, path: string): Promise<Pick<RdfPart, 'quads' | 'prefixes'> | SyntaxFault> {
    const { base, rewrite } = this.place;
    const type = rdfTypeOf(cssTypeOf(file.path));
    if (type === undefined) return new SyntaxFault(`${file.path}: It is in no syntax of RDF that can be read.`);
    try {
      for await (const part of rdfParts({ file, type, base: base + path, rewrite }))
        return part.hasMore ? new SyntaxFault(`${file.path}: It has more than ${part.count} triples.`) : part;
    } catch (error) {
      if (error instanceof SyntaxFault) return error;
      throw error;
    }
    return { quads: [], prefixes: {} };
  }
}

/** What a list says that does not mean the same on both servers, as sentences; `undefined` where it says no such thing. */
export function listNotice({ quads }: AccessList): string | undefined {
  const says = (name: string): boolean =>
    quads.some(({ predicate }) => predicate.value === vocabulary.namespace + name);
  const notices = [
    says('defaultForNew') ? 'Its acl:defaultForNew has no effect, as it had none there; acl:default has.' : '',
    says('origin')
      ? 'Its acl:origin counts: that server did not know it, and gave the same access to all origins.'
      : '',
  ];
  return notices.filter(Boolean).join(' ') || undefined;
}
