/** The tag files of bags (RFC 8493): declarations, manifests and what is said of a bag. Pure but for reading them. */
import { createHash } from 'node:crypto';
import { bytesOfFile, type FileTree, TransferError, type TreeFile } from '../../lib/component/exchange.js';

export const payload = 'data/';
/** The strongest first. */
const algorithms = ['sha512', 'sha256', 'sha1', 'md5'] as const;
export type Algorithm = (typeof algorithms)[number];

/** Bytes of a manifest, and of the other tag files. */
const [longestManifest, longestTag] = [512 << 20, 1 << 20];

/** Digests by the paths of files. */
export interface BagManifest {
  readonly name: string;
  readonly algorithm: Algorithm;
  readonly digests: ReadonlyMap<string, string>;
}

/** Whether `%` is encoded in manifests, as it is since version 1.0. @throws TransferError for what is no bag */
export async function readDeclaration(tree: FileTree): Promise<{ readonly isPercentEncoded: boolean }> {
  const tags = await readTags(tree, 'bagit.txt');
  const version = /^(\d{1,4})\.(\d{1,4})$/.exec(tags?.get('bagit-version') ?? '');
  if (!version) throw new TransferError('bagit.txt: It is missing, or says no BagIt-Version (RFC 8493 2.1.1).');
  const encoding = tags!.get('tag-file-character-encoding') ?? 'UTF-8';
  if (encoding.toUpperCase() !== 'UTF-8')
    throw new TransferError(`bagit.txt: Tag files in ${encoding.slice(0, 50)} cannot be read, only those in UTF-8.`);
  return { isPercentEncoded: Number(version[1]) >= 1 };
}

/** The first value of each label, labels in lower case; `undefined` when there is no such file. */
export async function readTags(tree: FileTree, path: string): Promise<Map<string, string> | undefined> {
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

/** The manifests of a kind, the strongest first. @throws TransferError for lines that cannot be read */
export async function readManifests(
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
    // Programs that compute digests write an asterisk for binary files, and some a `./`.
    const path = line.slice(blank).trimStart().replace(/^\*/, '').replace(/^\.\//, '');
    if (!/^[0-9a-f]+$/.test(digest) || path === '')
      throw new TransferError(`${name}:${number}: It is no digest and the path of a file (RFC 8493 2.1.3).`);
    digests.set(decoded(path, isPercentEncoded), digest);
  }
  return digests;
}

const decoded = (path: string, isPercentEncoded: boolean): string =>
  path.replace(isPercentEncoded ? /%(?:0A|0D|25)/gi : /%(?:0A|0D)/gi, decodeURIComponent);
export const encodedPath = (path: string): string => path.replace(/[\n\r%]/g, encodeURIComponent);

/**
 * The content of a file, which fails before its last piece when it has another digest.
 * @throws TransferError
 */
export async function* verifiedContent(
  file: TreeFile,
  { name, algorithm, digests }: BagManifest,
): AsyncGenerator<Uint8Array> {
  const hash = createHash(algorithm);
  let held: Uint8Array | undefined;
  for await (const chunk of file.open()) {
    hash.update(chunk);
    if (held) yield held;
    // Whoever gave it may use its memory again.
    held = Uint8Array.from(chunk);
  }
  if (hash.digest('hex') !== digests.get(file.path))
    throw new TransferError(`${file.path} is damaged: it has not the digest that ${name} says.`);
  if (held) yield held;
}
