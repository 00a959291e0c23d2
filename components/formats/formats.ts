/** Exchange formats of others. */
import type { Format } from '../../lib/component/exchange.js';
import { bagReader, isBag } from './bagit-reader.js';
import { BagWriter } from './bagit-writer.js';
import { cssReader, isCss } from './css-reader.js';
import { CssWriter } from './css-writer.js';
import { documentQuads } from './foreign-documents.js';
import { crateReader, isCrate } from './ro-crate-reader.js';
import { CrateWriter } from './ro-crate-writer.js';

const mediaType = 'application/zip';

/** The first that fits a tree is taken where none is named. */
export const formats: Readonly<Record<string, Format>> = {
  bagit: {
    ...{ about: 'a bag (RFC 8493)', mediaType, fits: isBag, read: bagReader },
    write: (sink, { of }) => new BagWriter(sink, of, new Date()),
  },
  css: {
    ...{ about: 'the data folder of a Community Solid Server', mediaType, fits: isCss, read: cssReader },
    write: (sink, { of }) => new CssWriter(sink, of),
  },
  'ro-crate': {
    ...{ about: 'a research object crate (RO-Crate 1.1)', mediaType, fits: isCrate, read: crateReader },
    write: (sink, { of }) => new CrateWriter(sink, of, new Date()),
  },
  page: {
    about: 'web pages with RDF in them, and shapes in the compact syntax of SHACL',
    documents: {
      types: ['text/html', 'application/xhtml+xml', 'text/shaclc', 'text/shaclc-ext'],
      parse: (document) => documentQuads(document),
    },
  },
};
