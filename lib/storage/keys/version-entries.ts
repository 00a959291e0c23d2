/** Entries of earlier states that backups read. `components/versions` writes them. */
import { entryRange, type KeyRange, partsOfEntry } from './records.js';

const dataSpace = 'versions-data';

/** Records of earlier states, by resource and end. */
export const versionEntries = entryRange('versions');
/** Triples of earlier states, which are most of their data. */
export const versionData = entryRange(dataSpace);
/** Versions of dropped graphs that are being removed. */
export const openVersions = entryRange('versions-open');

/** Returns the range of the triples of a version. @param key of its record */
export const dataOfVersion = (key: string): KeyRange => entryRange(dataSpace, ...partsOfEntry(key).slice(1));

/** True if a version has entries with triples. @param value its record, which may be followed by a line with a small difference */
export const hasVersionData = (value: string): boolean => /^[^\n]*"pieces":[1-9]/.test(value);
