/** Trees of files, wherever they lie: in a folder or in a ZIP. */

export interface TreeFile {
  /** The segments as they are named there, decoded, with slashes between them: `a/b c.ttl`. Folders end with a slash. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly modified?: number;
  /** The content; a file may be opened again. */
  open(): AsyncIterable<Uint8Array>;
}

/** What is found in a tree and cannot be taken: a link out of it, a name with `..`, a device. */
export interface RefusedFile {
  readonly path: string;
  /** A sentence for people. */
  readonly refused: string;
}

export interface FileTree {
  /** Bytes of all files. */
  readonly total: number;
  /**
   * All files and folders, a folder before what is in it, in an order that is the same each time.
   * @param after continue after this path
   */
  files(after?: string): AsyncIterable<TreeFile | RefusedFile>;
  /** The file with exactly this path. */
  file(path: string): Promise<TreeFile | undefined>;
  close(): Promise<void>;
}

/** Where files are written to: a folder, or a ZIP as it is sent. */
export interface TreeSink {
  /** Comes back when it may be given more. @param path as in `TreeFile` */
  add(path: string, content: Uint8Array | AsyncIterable<Uint8Array>, facts?: { modified?: number }): Promise<void>;
  end(): Promise<void>;
}
