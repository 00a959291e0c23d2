/** Files and folders as browsers hand them over: dropped, or picked. */

/** A file with its path from where it was dropped, such as `photos/2026/a.jpg`. */
export interface Picked {
  readonly file: File;
  readonly path: string;
}

export interface Dropped {
  readonly files: readonly Picked[];
  /** Folders that hold nothing, so that they come along too. */
  readonly folders: readonly string[];
}

/** Reads what was dropped. To be called within the event: the list of items is empty afterwards. */
export function readDrop(transfer: DataTransfer): Promise<Dropped> {
  const entries = [...transfer.items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  // Some sources give files without entries.
  const loose = entries.length > 0 ? [] : [...transfer.files].map((file) => ({ file, path: file.name }));
  return readEntries(entries, loose);
}

async function readEntries(roots: readonly FileSystemEntry[], loose: readonly Picked[]): Promise<Dropped> {
  const files: Picked[] = [...loose];
  const folders: string[] = [];
  const visit = async (entry: FileSystemEntry): Promise<void> => {
    const path = entry.fullPath.replace(/^\//, '');
    if (entry.isFile) files.push({ file: await fileOf(entry as FileSystemFileEntry), path });
    else {
      folders.push(path);
      for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) await visit(child);
    }
  };
  for (const root of roots) await visit(root);
  return { files, folders };
}

const fileOf = (entry: FileSystemFileEntry): Promise<File> =>
  new Promise((resolve, reject) => entry.file(resolve, reject));

async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader();
  const children: FileSystemEntry[] = [];
  for (;;) {
    // At most a hundred come at once.
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return children;
    children.push(...some);
  }
}

/** What a file input holds; with folders, when it was asked for them. */
export const readPicked = (list: FileList): Dropped => ({
  files: [...list].map((file) => ({ file, path: file.webkitRelativePath || file.name })),
  folders: [],
});
