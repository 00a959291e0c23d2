/** The formats of this component: dumps, plain files, and Quadpod archives. */
import { basename } from 'node:path';
import type { Format } from '../../../../lib/exchange/format.js';
import { folderReader } from '../../exchange/folder.js';
import { FolderWriter } from '../../exchange/folder-writer.js';
import { documentQuads } from '../documents/foreign-documents.js';
import { openFileTree } from '../trees/folder-tree.js';
import { archiveReader, isArchive } from './archive-reader.js';
import { ArchiveWriter } from './archive-writer.js';
import { dumpReader } from './dump-reader.js';
import { DumpWriter, TriGWriter } from './dump-writer.js';

const folder: Format = {
  about: 'a directory, with RDF as Turtle and everything else unchanged',
  read: (tree) => folderReader(tree),
  write: (sink, { of }) => new FolderWriter(sink, of),
};

export const formats: Readonly<Record<string, Format>> = {
  nquads: {
    about: 'an N-Quads dump',
    mediaType: 'application/n-quads',
    endings: ['nq', 'nquads'],
    readFile: async (file) => dumpReader(file, { isTriG: false, isGzip: file.isGzip }),
    writeText: (out, { of, isGzip }) => new DumpWriter(out, of, { isGzip }),
  },
  trig: {
    about: 'a TriG dump',
    mediaType: 'application/trig',
    endings: ['trig'],
    readFile: async (file) => dumpReader(file, { isTriG: true, isGzip: file.isGzip }),
    writeText: (out, { of, isGzip }) => new TriGWriter(out, of, { isGzip }),
  },
  zip: { ...folder, about: 'the same directory as a ZIP', mediaType: 'application/zip' },
  folder,
  archive: {
    about: 'a complete Quadpod archive: links, dates, owners, access control lists, grants',
    mediaType: 'application/zip',
    fits: isArchive,
    read: (tree) => archiveReader(tree),
    write: (sink, { of, storage }) =>
      new ArchiveWriter(sink, { storage, container: of, made: new Date().toISOString() }),
  },
  file: {
    about: 'a single RDF file',
    readFile: async ({ path, name }, parserOf) => folderReader(await openFileTree(path, basename(name)), parserOf),
  },
  page: {
    about: 'web pages with embedded RDF, and shapes in SHACL compact syntax',
    documents: {
      types: ['text/html', 'application/xhtml+xml', 'text/shaclc', 'text/shaclc-ext'],
      parse: (document) => documentQuads(document),
    },
  },
};
