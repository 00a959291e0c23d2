/**
 * Features of a storage: kinds of entries and terms that earlier versions do not know, and would not update when they change
 * resources. A version rejects a storage with a feature that it does not know.
 */
import { entryKey, metaKey } from './records.js';

/** Key of the features of a storage, separated by spaces. */
export const featuresKey = metaKey('features');

/** Features of every storage. */
export const initialFeatures: readonly string[] = ['orders', 'digests'];

interface Feature {
  /** Key spaces of the feature's entries. A storage requires the feature while the first space has entries. */
  readonly spaces: readonly [string, ...string[]];
}

/** Feature of a storage that has earlier states of resources. */
export const versionsFeature = 'versions';

/** Features that a transaction adds with their first entry. Other entry spaces are known to all versions that read features. */
export const addedFeatures: ReadonlyMap<string, Feature> = new Map([
  [
    'text-index',
    {
      spaces: [
        ...(['text-state', 'text', 'text-of', 'text-words', 'text-at', 'text-load'] as const),
        ...(['label', 'label-by', 'label-of'] as const),
      ],
    },
  ],
  ['trash', { spaces: ['trash', 'trash-owners'] }],
  ['root-owners', { spaces: ['root-acl'] }],
  ['removed-subtrees', { spaces: ['removed'] }],
  [
    versionsFeature,
    {
      spaces: [
        'versions',
        ...(['versions-on', 'versions-data', 'versions-heads', 'versions-at'] as const),
        ...(['versions-blobs', 'versions-access', 'versions-open', 'versions-since', 'versions-horizon'] as const),
      ],
    },
  ],
]);

/** Feature of a storage with terms of RDF 1.2: the type letters 8 and 9 in keys. The first such term adds the feature. */
export const newTerms = 'rdf-1.2';

/** Feature of a storage with small differences in the records of versions, or with blobs that versions share with a resource. */
export const shortVersions = 'versions-short';

const bySpace = new Map(
  [...addedFeatures].flatMap(([name, { spaces }]) => spaces.map((space) => [space, name] as const)),
);
const known = new Set([...initialFeatures, ...addedFeatures.keys(), newTerms, shortVersions]);

const entries = entryKey('');

/** Returns the feature that a storage with this key requires. */
export function featureOf(key: string): string | undefined {
  if (!key.startsWith(entries)) return undefined;
  const end = key.indexOf('\u0000', entries.length);
  return bySpace.get(key.slice(entries.length, end < 0 ? undefined : end));
}

/** Reads the value of `featuresKey`. */
export const readFeatures = (value = ''): ReadonlySet<string> =>
  new Set(value.split(' ').filter((name) => name !== ''));
export const writeFeatures = (features: Iterable<string>): string => [...features].join(' ');

export const unknownFeatures = (value: string | undefined): string[] =>
  [...readFeatures(value)].filter((name) => !known.has(name));
