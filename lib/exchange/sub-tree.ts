/** A folder of a tree as a tree of its own. */
import type { FileTree, RefusedFile, TreeFile, TreeSink } from './file-tree.js';

export interface SubTree {
  /** The folder's path, with a slash at its end. */
  readonly folder: string;
  /** Bytes of its files. */
  readonly total: number;
  /** What is done with each file's content. */
  readonly content: (file: TreeFile) => AsyncIterable<Uint8Array>;
}

/** The tree below a folder. Closing it closes the whole. */
export function subTree(tree: FileTree, { folder, total, content }: SubTree): FileTree {
  const below = <Found extends TreeFile | RefusedFile>(found: Found): Found => {
    const path = found.path.slice(folder.length);
    return 'refused' in found ? { ...found, path } : { ...found, path, open: () => content(found) };
  };
  return {
    total,
    async *files(after = '') {
      for await (const found of tree.files(folder + after)) {
        if (found.path.startsWith(folder)) yield below(found);
        else if (found.path > folder) break;
      }
    },
    async file(path) {
      const found = await tree.file(folder + path);
      return found && below(found);
    },
    close: () => tree.close(),
  };
}

/** A sink for the files of a folder, whose end does not end the whole. */
export const subSink = (sink: TreeSink, folder: string): TreeSink => ({
  add: (path, content, facts) => sink.add(folder + path, content, facts),
  end: async () => {},
});
