/** The type index: types, and the resources that have them, as far as the caller can read them. */
import { defineComponent } from '../../../lib/component/component.js';
import { loadQueryEngine } from '../../../lib/query/query-engine.js';
import { flag, integer, setting } from '../../../lib/settings/settings.js';
import type { Store } from '../../../lib/storage/transactions/store.js';
import { allIndexes } from '../postings/maintained-index.js';
import { PostingLists } from '../postings/posting-lists.js';
import { indexChanges, typeIndex } from './indexer.js';
import { postings } from './postings.js';
import { indexEndpoint, searchRoutes, typeSearchEndpoint } from './routes.js';

const settings = {
  enabled: setting(
    'lws.search-index.enabled',
    flag,
    true,
    'Maintain the type index, and serve type index and type search.',
    'storage',
  ),
  pageSize: setting(
    'lws.search-index.page-size',
    integer(1, 10_000),
    100,
    'Page size of the type index and the type search, in items.',
    'storage',
  ),
  cacheBytes: setting(
    'lws.search-index.cache-bytes',
    integer(0),
    32 << 20,
    'Size of the index cache for repeated searches, in bytes.',
  ),
};

export default defineComponent({
  name: 'search-index',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { pageSize, cacheBytes }) {
    if (!typeIndex.isComplete(platform.store))
      await typeIndex.rebuild(platform.store, platform.progress('Rebuilding the type index'));
    platform.store.onTransaction(indexChanges, () => true);
    return {
      routes: searchRoutes({ platform, lists: new PostingLists(platform.store, postings, cacheBytes), pageSize }),
      services: [
        { type: 'TypeIndexService', serviceEndpoint: indexEndpoint(platform) },
        { type: 'TypeSearchService', serviceEndpoint: typeSearchEndpoint(platform) },
      ],
      capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-index/' }],
      // Load the query engine at the start: it takes 0.2 s, which would delay the first search.
      async start() {
        await loadQueryEngine();
      },
    };
  },
  onDisabled: ({ store }) => typeIndex.abandon(store),
  check: (store) => typeIndex.faultsOf(store),
  rebuild: (store) => typeIndex.abandon(store),
  commands: {
    reindex: {
      help: 'rebuild the type index and the text index of a stopped server from its records and graphs',
      example: 'reindex --data-dir=lws-data',
      async run({ onStore, progress, print }) {
        for (const index of allIndexes) {
          // Skip indexes that are disabled or outdated: a server rebuilds an index when it starts with this index enabled.
          const rebuild = async (store: Store): Promise<number | undefined> =>
            index === typeIndex || index.isComplete(store)
              ? index.rebuild(store, progress(`Rebuilding the ${index.name}`))
              : undefined;
          const count = await onStore(rebuild);
          if (count !== undefined) print(`The ${index.name} contains ${count} resources.`);
        }
        return 0;
      },
    },
  },
});
