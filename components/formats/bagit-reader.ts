/** Reads bags (RFC 8493): their payload as a folder of files, each of which has the digest that its manifest says. */
import {
  type FileTree,
  folderReader,
  type MemberOptions,
  type ReadStep,
  subTree,
  TransferError,
  treeReader,
} from '../../lib/component/exchange.js';
import {
  type BagManifest,
  payload,
  readDeclaration,
  readManifests,
  readTags,
  verifiedContent,
} from './bagit-format.js';
import { crateReader, isCrate } from './ro-crate-reader.js';

/** Whether a tree is a bag. */
export const isBag = async (tree: FileTree): Promise<boolean> => (await tree.file('bagit.txt')) !== undefined;

/**
 * Reads a bag. Whether it is complete is known before anything of it is given away, and each digest when its file has been read.
 * Cursors are those of the payload.
 */
export const bagReader = treeReader(readBag);

async function* readBag(tree: FileTree, options: MemberOptions): AsyncGenerator<ReadStep> {
  const { isPercentEncoded } = await readDeclaration(tree);
  const fetched = await tree.file('fetch.txt');
  if (fetched && fetched.size > 0)
    throw new TransferError(
      'fetch.txt: Files of this bag lie elsewhere, and nothing is fetched. Complete the bag first.',
    );
  const [tagManifest] = await readManifests(tree, 'tagmanifest', isPercentEncoded);
  if (tagManifest) await assertTagFiles(tree, tagManifest);
  const manifests = await readManifests(tree, 'manifest', isPercentEncoded);
  const [manifest] = manifests;
  if (!manifest)
    throw new TransferError(
      'The bag has no manifest that can be checked: manifest-sha512.txt, -sha256, -sha1 or -md5.',
    );
  const total = await assertComplete(tree, manifests);
  const files = subTree(tree, { folder: payload, total, content: (file) => verifiedContent(file, manifest) });
  // A crate may be what is in the bag.
  yield* ((await isCrate(files)) ? crateReader(files) : folderReader(files)).read(options);
}

/** @throws TransferError for a tag file that is missing, or is another */
async function assertTagFiles(tree: FileTree, manifest: BagManifest): Promise<void> {
  for (const path of manifest.digests.keys()) {
    const file = await tree.file(path);
    if (!file) throw new TransferError(`${path} is missing, which ${manifest.name} lists.`);
    for await (const _ of verifiedContent(file, manifest));
  }
}

/**
 * The bytes of the payload.
 * @throws TransferError for a file that is missing, and for one that is there without being listed
 */
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
    if (found[index] !== digests.size) throw new TransferError(`${await missing(tree, digests)}, which ${name} lists.`);
  const oxum = (await readTags(tree, 'bag-info.txt'))?.get('payload-oxum');
  if (oxum !== undefined && oxum !== `${bytes}.${count}`)
    throw new TransferError(
      `bag-info.txt: The payload has ${bytes} bytes in ${count} files, and not ${oxum.slice(0, 50)}.`,
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
