/** The formats of this component: dumps, plain files, and Quadpod archives. */
import { basename } from 'node:path';
import { folderReader } from '../../../lib/exchange/folder.js';
import { FolderWriter } from '../../../lib/exchange/folder-writer.js';
import type { Format } from '../../../lib/exchange/format.js';
import { documentQuads } from '../documents/foreign-documents.js';
import { openFileTree } from '../trees/folder-tree.js';
import { archiveReader, isArchive } from './archive-reader.js';
import { ArchiveWriter } from './archive-writer.js';
import { dumpReader } from './dump-reader.js';
import { DumpWriter, TriGWriter } from './dump-writer.js';

const folder: Format = {
  about: 'a folder, RDF as Turtle and everything else as it is',
  read: (tree) => folderReader(tree),
  write: (sink, { of }) => new FolderWriter(sink, of),
};

export const formats: Readonly<Record<string, Format>> = {
  nquads: {
    about: 'a dump in N-Quads',
    mediaType: 'application/n-quads',
    endings: ['nq', 'nquads'],
    readFile: async (file) => dumpReader(file, { isTriG: false, isGzip: file.isGzip }),
    writeText: (out, { of, isGzip }) => new DumpWriter(out, of, { isGzip }),
  },
  trig: {
    about: 'a dump in TriG',
    mediaType: 'application/trig',
    endings: ['trig'],
    readFile: async (file) => dumpReader(file, { isTriG: true, isGzip: file.isGzip }),
    writeText: (out, { of, isGzip }) => new TriGWriter(out, of, { isGzip }),
  },
  zip: { ...folder, about: 'such a folder as a ZIP', mediaType: 'application/zip' },
  folder,
  archive: {
    about: 'everything of a Quadpod storage: links, dates, owners, lists of access, grants',
    mediaType: 'application/zip',
    fits: isArchive,
    read: (tree) => archiveReader(tree),
    write: (sink, { of, storage }) =>
      new ArchiveWriter(sink, { storage, container: of, made: new Date().toISOString() }),
  },
  file: {
    about: 'a single file of RDF',
    readFile: async ({ path, name }, parserOf) => folderReader(await openFileTree(path, basename(name)), parserOf),
  },
  page: {
    about: 'web pages with RDF in them, and shapes in the compact syntax of SHACL',
    documents: {
      types: ['text/html', 'application/xhtml+xml', 'text/shaclc', 'text/shaclc-ext'],
      parse: (document) => documentQuads(document),
    },
  },
};
