/** Implements `WriteTools` for the formats of components. */

import type { WriteTools } from '../../../lib/exchange/format.js';
import { writeTurtle } from '../../../lib/rdf/turtle-writer.js';
import { FolderWriter } from './folder-writer.js';
import { formatTools } from './format-tools.js';
import { TurtleFiles } from './text-files.js';

export const writeTools: WriteTools = {
  ...formatTools,
  folderWriter: (sink, of) => new FolderWriter(sink, of),
  turtleFiles: (sink, of) => new TurtleFiles(sink, of),
  writeTurtle,
};
