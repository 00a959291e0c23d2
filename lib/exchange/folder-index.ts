/**
 * The index of a folder, `.quadpod.json` at its top: facts about resources that the names of files do not tell. A file needs an
 * entry only where its name does not tell all of them.
 *
 *     { "quadpod": 1, "files": { "notes/a.ttl": { "name": "notes/a", "links": { … } }, "x.ttl": { "type": "text/plain", "bytes": true } } }
 */
import { isObject } from '../json/exact-json.js';
import type { ClientLinks } from '../resources/linkset.js';
import { bytesOfFile, type FileTree } from './file-tree.js';
import { TransferError } from './member.js';

export const indexName = '.quadpod.json';

/** The most bytes of an index that is read. */
const longestIndex = 256 << 20;

/** The entry of a file, or of a folder, whose path ends with a slash; the empty path is the top folder. */
export interface FileFacts {
  /** The last segment of the resource's IRI, without a slash, where it is not the name of the file. */
  readonly name?: string;
  /** The media type, with its parameters. */
  readonly type?: string;
  /** The file is stored as bytes, although its media type is one of RDF. */
  readonly bytes?: true;
  readonly links?: ClientLinks;
}

export type FolderIndex = ReadonlyMap<string, FileFacts>;

/** The index of a tree, empty where it has none. @throws TransferError for one that cannot be read */
export async function readIndex(tree: FileTree): Promise<FolderIndex> {
  const file = await tree.file(indexName);
  if (!file) return new Map();
  const files = filesOf(await bytesOfFile(file, longestIndex));
  for (const [path, facts] of Object.entries(files)) assertFacts(path, facts);
  return new Map(Object.entries(files as Readonly<Record<string, FileFacts>>));
}

function filesOf(bytes: Buffer): object {
  let index: unknown;
  try {
    index = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw faulty((cause as Error).message);
  }
  if (!isObject(index) || index['quadpod'] !== 1 || !isObject(index['files']))
    throw faulty('it is an object with "quadpod": 1 and the object "files"');
  return index['files'];
}

function assertFacts(path: string, facts: unknown): void {
  if (!isObject(facts)) throw faulty(`"${path.slice(0, 200)}" has no object`);
  const { name, type, bytes, links } = facts;
  const isFault =
    (name !== undefined && (typeof name !== 'string' || !/^[^/?#\s]+$/.test(name))) ||
    (type !== undefined && (typeof type !== 'string' || !type.includes('/'))) ||
    (bytes !== undefined && bytes !== true) ||
    (links !== undefined && !isObject(links));
  if (isFault) throw faulty(`"${path.slice(0, 200)}" has a wrong "name", "type", "bytes" or "links"`);
}

const faulty = (why: string): TransferError => new TransferError(`${indexName} cannot be read: ${why}.`);

/** The text of an index, in pieces. */
export function* indexText(index: FolderIndex): Generator<string> {
  yield '{"quadpod":1,"files":{';
  let separator = '\n';
  for (const [path, facts] of index) {
    yield `${separator}${JSON.stringify(path)}:${JSON.stringify(facts)}`;
    separator = ',\n';
  }
  yield '\n}}\n';
}
