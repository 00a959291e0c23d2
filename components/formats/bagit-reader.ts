/** Reads bags (RFC 8493): the payload as a directory of files, each verified against the manifest. */
import { createHash } from 'node:crypto';
import {
  bytesOfFile,
  type FileTree,
  type FormatTools,
  type MemberOptions,
  type ReadStep,
  TransferError,
  type TreeFile,
  treeReader,
} from '../../lib/plugin/formats.js';
import { baseWith, treeBelow } from './one-folder.js';
import { crateReader, isCrate } from './ro-crate-reader.js';

export const payload = 'data/';
/** Digest algorithms, strongest first. */
const algorithms = ['sha512', 'sha256', 'sha1', 'md5'] as const;
type Algorithm = (typeof algorithms)[number];

/** Maximum bytes of a manifest, and of other tag files. */
const [longestManifest, longestTag] = [512 << 20, 1 << 20];

/** Manifest: digests by file path. */
interface BagManifest {
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly digests: ReadonlyMap<string, string>;
}

const declaration = 'bagit.txt';

/** Returns true if a tree is a bag, or has a bag as its only directory (RFC 8493 4). */
export const isBag = async (tree: FileTree): Promise<boolean> => (await baseWith(tree, [declaration])) !== undefined;

/**
 * Reads a bag. Checks completeness before the first file is returned, and each digest after its file was read. Cursors are
 * those of the payload reader.
 */
export const bagReader = treeReader(readBag);

async function* readBag(whole: FileTree, options: MemberOptions, tools: FormatTools): AsyncGenerator<ReadStep> {
  const base = await baseWith(whole, [declaration]);
  const tree = base ? treeBelow(whole, base) : whole;
  const { isPercentEncoded } = await readDeclaration(tree);
  const fetched = await tree.file('fetch.txt');
  if (fetched && fetched.size > 0)
    throw new TransferError(
      'fetch.txt: The bag refers to remote files, which are not fetched. Complete the bag first.',
    );
  const [tagManifest] = await readManifests(tree, 'tagmanifest', isPercentEncoded);
  if (tagManifest) await assertTagFiles(tree, tagManifest);
  const manifests = await readManifests(tree, 'manifest', isPercentEncoded);
  const [manifest] = manifests;
  if (!manifest)
    throw new TransferError('The bag has no supported manifest: manifest-sha512.txt, -sha256, -sha1 or -md5.');
  const total = await assertComplete(tree, manifests);
  const files = treeBelow(tree, payload, { total, open: (file) => verifiedContent(file, manifest) });
  // The payload may be an RO-Crate.
  yield* ((await isCrate(files)) ? crateReader(files, tools) : tools.readFolder(files)).read(options);
}

/** Verifies the tag files. @throws TransferError for a missing or modified file */
async function assertTagFiles(tree: FileTree, manifest: BagManifest): Promise<void> {
  for (const path of manifest.digests.keys()) {
    const file = await tree.file(path);
    if (!file) throw new TransferError(`${path} is missing, but ${manifest.name} lists it.`);
    for await (const _ of verifiedContent(file, manifest));
  }
}

/** Asserts that a bag is complete. Returns its payload size in bytes. @throws TransferError for missing and unlisted files */
async function assertComplete(tree: FileTree, manifests: readonly BagManifest[]): Promise<number> {
  let [bytes, count] = [0, 0];
  const found = manifests.map(() => 0);
  for await (const file of tree.files(payload)) {
    if (!file.path.startsWith(payload)) {
      if (file.path > payload) break;
      continue;
    }
    if (file.path.endsWith('/')) continue;
    const isRefused = 'refused' in file;
    for (const [index, { name, digests }] of manifests.entries()) {
      if (digests.has(file.path)) found[index]!++;
      else if (!isRefused) throw new TransferError(`${file.path} is in the bag, but not in its ${name}.`);
    }
    bytes += isRefused ? 0 : file.size;
    count++;
  }
  for (const [index, { name, digests }] of manifests.entries())
    if (found[index] !== digests.size)
      throw new TransferError(`${await missing(tree, digests)}, but ${name} lists it.`);
  const oxum = (await readTags(tree, 'bag-info.txt'))?.get('payload-oxum');
  if (oxum !== undefined && oxum !== `${bytes}.${count}`)
    throw new TransferError(
      `bag-info.txt: The payload has ${bytes} bytes in ${count} files instead of ${oxum.slice(0, 50)}.`,
    );
  return bytes;
}

async function missing(tree: FileTree, digests: ReadonlyMap<string, string>): Promise<string> {
  for (const path of digests.keys()) {
    if (!path.startsWith(payload)) return `${path} is not in the payload (data/)`;
    if (!(await tree.file(path))) return `${path} is missing`;
  }
  return 'A file is missing';
}

/** Returns true if manifests percent-encode `%` (version 1.0 and later). @throws TransferError if the tree is not a bag */
async function readDeclaration(tree: FileTree): Promise<{ readonly isPercentEncoded: boolean }> {
  const tags = await readTags(tree, declaration);
  const version = /^(\d{1,4})\.(\d{1,4})$/.exec(tags?.get('bagit-version') ?? '');
  if (!version)
    throw new TransferError(
      'bagit.txt: The file or its BagIt-Version is missing (RFC 8493 2.1.1). It must be at the top, or in the only directory there.',
    );
  const encoding = tags!.get('tag-file-character-encoding') ?? 'UTF-8';
  if (encoding.toUpperCase() !== 'UTF-8')
    throw new TransferError(`bagit.txt: Tag files in ${encoding.slice(0, 50)} are not supported. Use UTF-8.`);
  return { isPercentEncoded: Number(version[1]) >= 1 };
}

/** Returns the first value of each label, by label in lower case, or `undefined` if the file does not exist. */
async function readTags(tree: FileTree, path: string): Promise<Map<string, string> | undefined> {
  const file = await tree.file(path);
  if (!file) return undefined;
  const tags = new Map<string, string>();
  for (const line of (await textOf(file, longestTag)).split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    const label = line.slice(0, Math.max(0, colon)).trim().toLowerCase();
    if (label !== '' && !/^\s/.test(line) && !tags.has(label)) tags.set(label, line.slice(colon + 1).trim());
  }
  return tags;
}

async function textOf(file: TreeFile, most: number): Promise<string> {
  const text = (await bytesOfFile(file, most)).toString('utf8');
  return text.startsWith('\ufeff') ? text.slice(1) : text;
}

/** Returns the manifests of a kind, strongest first. @throws TransferError for invalid lines */
async function readManifests(
  tree: FileTree,
  kind: 'manifest' | 'tagmanifest',
  isPercentEncoded: boolean,
): Promise<BagManifest[]> {
  const manifests: BagManifest[] = [];
  for (const algorithm of algorithms) {
    const name = `${kind}-${algorithm}.txt`;
    const file = await tree.file(name);
    if (file)
      manifests.push({
        name,
        algorithm,
        digests: digestsIn(await textOf(file, longestManifest), name, isPercentEncoded),
      });
  }
  return manifests;
}

function digestsIn(text: string, name: string, isPercentEncoded: boolean): Map<string, string> {
  const digests = new Map<string, string>();
  let number = 0;
  for (const line of text.split(/\r\n|\n|\r/)) {
    number++;
    if (line.trim() === '') continue;
    const blank = line.search(/[ \t]/);
    const digest = line.slice(0, Math.max(0, blank)).toLowerCase();
    // Digest tools mark binary files with an asterisk, and some tools prefix paths with `./`.
    const path = line.slice(blank).trimStart().replace(/^\*/, '').replace(/^\.\//, '');
    if (!/^[0-9a-f]+$/.test(digest) || path === '')
      throw new TransferError(`${name}:${number}: The line must be a digest and a file path (RFC 8493 2.1.3).`);
    digests.set(decoded(path, isPercentEncoded), digest);
  }
  return digests;
}

const decoded = (path: string, isPercentEncoded: boolean): string =>
  path.replace(isPercentEncoded ? /%(?:0A|0D|25)/gi : /%(?:0A|0D)/gi, decodeURIComponent);
export const encodedPath = (path: string): string => path.replace(/[\n\r%]/g, encodeURIComponent);

/** Yields the content of a file. If the digest differs, throws before the last chunk. @throws TransferError */
async function* verifiedContent(file: TreeFile, { name, algorithm, digests }: BagManifest): AsyncGenerator<Uint8Array> {
  const hash = createHash(algorithm);
  let held: Uint8Array | undefined;
  for await (const chunk of file.open()) {
    hash.update(chunk);
    if (held) yield held;
    // Copy the chunk, because the source may reuse its buffer.
    held = Uint8Array.from(chunk);
  }
  if (hash.digest('hex') !== digests.get(file.path))
    throw new TransferError(`${file.path} is damaged: its digest differs from that in ${name}.`);
  if (held) yield held;
}
