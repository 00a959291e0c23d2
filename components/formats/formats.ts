/** Exchange formats of other systems. */
import type { Format } from '../../lib/plugin/formats.js';
import { bagReader, isBag } from './bagit-reader.js';
import { BagWriter } from './bagit-writer.js';
import { cssReader, isCss } from './css-reader.js';
import { CssWriter } from './css-writer.js';
import { crateReader, isCrate } from './ro-crate-reader.js';
import { CrateWriter } from './ro-crate-writer.js';

const mediaType = 'application/zip';

/** Formats by name. If no format is named, the first one that fits is used. */
export const formats: Readonly<Record<string, Format>> = {
  bagit: {
    ...{ about: 'a bag (RFC 8493)', mediaType, fits: isBag, read: bagReader },
    hasFolder: true,
    write: (sink, { of }, tools) => new BagWriter(sink, { of, made: new Date(), tools }),
  },
  css: {
    ...{ about: 'the data directory of a Community Solid Server', mediaType, fits: isCss, read: cssReader },
    write: (sink, { of }, tools) => new CssWriter(sink, of, tools),
  },
  'ro-crate': {
    ...{
      about: 'a research object crate (RO-Crate 1.2, reads 1.0 and 1.1)',
      mediaType,
      fits: isCrate,
      read: crateReader,
    },
    write: (sink, { of }, tools) => new CrateWriter(sink, { of, made: new Date(), tools }),
  },
};
