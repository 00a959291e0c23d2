/** Entries of earlier states that backups read. `components/versions` writes them. */
import { entryRange } from './records.js';

/** Records of earlier states, by resource and end. */
export const versionEntries = entryRange('versions');
/** Versions of dropped graphs that are being removed. */
export const openVersions = entryRange('versions-open');

/** True if a version has entries with triples. @param value its record, which may be followed by a line with a small difference */
export const hasVersionData = (value: string): boolean => /^[^\n]*"pieces":[1-9]/.test(value);
