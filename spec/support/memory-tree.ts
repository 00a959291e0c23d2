/** File trees in memory. */
import type { FileTree, TreeFile, TreeSink } from '../../lib/exchange/file-tree.js';

export type Files = Map<string, Buffer>;

/** Returns a tree of files. @param chunk size of the chunks of a content, in bytes */
export function memoryTree(files: Files, chunk = 1 << 16): FileTree {
  const fileOf = (path: string, bytes: Buffer): TreeFile => ({
    path,
    size: bytes.length,
    async *open() {
      for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk);
    },
  });
  const folders = [...files.keys()].flatMap((path) =>
    [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1)),
  );
  const paths = [...new Set([...folders, ...files.keys()])].sort((a, b) => (a < b ? -1 : 1));
  return {
    total: [...files.values()].reduce((sum, { length }) => sum + length, 0),
    async *files(after) {
      for (const path of paths)
        if (after === undefined || path > after) yield fileOf(path, files.get(path) ?? Buffer.alloc(0));
    },
    async file(path) {
      const bytes = path.endsWith('/') ? undefined : files.get(path);
      return bytes && fileOf(path, bytes);
    },
    async close() {},
  };
}

/** Returns a sink and the files written to it. */
export function memorySink(): { readonly sink: TreeSink; readonly files: Files } {
  const files: Files = new Map();
  const add: TreeSink['add'] = async (path, content) => {
    const chunks: Uint8Array[] = [];
    if (content instanceof Uint8Array) chunks.push(content);
    else for await (const piece of content) chunks.push(piece);
    if (files.has(path)) throw new Error(`${path} is written twice.`);
    files.set(path, Buffer.concat(chunks));
  };
  return { sink: { add, end: async () => {} }, files };
}
