/** Implements `WriteTools` for the formats of components. */
import { writeTurtle } from '../rdf/turtle-writer.js';
import { FolderWriter } from './folder-writer.js';
import type { WriteTools } from './format.js';
import { formatTools } from './format-tools.js';
import { TurtleFiles } from './text-files.js';

export const writeTools: WriteTools = {
  ...formatTools,
  folderWriter: (sink, of) => new FolderWriter(sink, of),
  turtleFiles: (sink, of) => new TurtleFiles(sink, of),
  writeTurtle,
};
