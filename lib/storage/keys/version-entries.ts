/** Entries of earlier states of resources, for backups. `components/versions` writes them. */
import { entryRange } from './records.js';

/** Records of earlier states, by resource and end of the state. */
export const versionEntries = entryRange('versions');
/** Versions of dropped graphs that are being removed. */
export const openVersions = entryRange('versions-open');

/** Returns true if a version has entries with triples. @param value record; a line with a small difference may follow */
export const hasVersionData = (value: string): boolean => /^[^\n]*"pieces":[1-9]/.test(value);
