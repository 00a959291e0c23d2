/** Finds a bag or crate that is the only directory of a tree: a serialized bag always is (RFC 8493 4), and many crates are. */
import type { FileTree, RefusedFile, TreeFile } from '../../lib/plugin/formats.js';

/** Directories and files that operating systems add to a ZIP file. */
const clutter = new Set(['__MACOSX/', '.DS_Store', 'Thumbs.db', 'desktop.ini']);

/** String that sorts after every path in a directory. */
const afterAll = '\uffff';

/** Returns the path of the only directory at the top of a tree; `undefined` if the top has anything else. */
async function onlyFolder(tree: FileTree): Promise<string | undefined> {
  let folder: string | undefined;
  let after: string | undefined;
  for (;;) {
    const found = await firstOf(tree, after);
    if (!found) return folder;
    const slash = found.path.indexOf('/');
    const top = slash < 0 ? found.path : found.path.slice(0, slash + 1);
    after = slash < 0 ? top : top + afterAll;
    if (clutter.has(top)) continue;
    if (slash < 0 || folder !== undefined) return undefined;
    folder = top;
  }
}

async function firstOf(tree: FileTree, after: string | undefined): Promise<TreeFile | undefined> {
  for await (const file of tree.files(after)) if (!('refused' in file)) return file;
  return undefined;
}

/** Returns the directory that has a file with one of the names: '' for the top, the only directory, or `undefined`. */
export async function baseWith(tree: FileTree, names: readonly string[]): Promise<string | undefined> {
  const has = async (base: string): Promise<boolean> => {
    for (const name of names) if (await tree.file(base + name)) return true;
    return false;
  };
  if (await has('')) return '';
  const folder = await onlyFolder(tree);
  return folder !== undefined && (await has(folder)) ? folder : undefined;
}

/**
 * Returns a directory as a separate tree. Closing it closes the whole tree.
 * @param base path of the directory, with a trailing slash
 * @param open returns the content of a file of the whole tree
 */
export function treeBelow(
  tree: FileTree,
  base: string,
  { total = tree.total, open = (file) => file.open() }: { total?: number; open?: (file: TreeFile) => Content } = {},
): FileTree {
  const below = <Found extends TreeFile | RefusedFile>(found: Found): Found => {
    const path = found.path.slice(base.length);
    return 'refused' in found ? { ...found, path } : { ...found, path, open: () => open(found) };
  };
  return {
    total,
    async *files(after = '') {
      for await (const found of tree.files(base + after)) {
        if (found.path.startsWith(base)) yield below(found);
        else if (found.path > base) break;
      }
    },
    async file(path) {
      const found = await tree.file(base + path);
      return found && below(found);
    },
    close: () => tree.close(),
  };
}

type Content = AsyncIterable<Uint8Array>;
