/** The search index: which types there are, and which resources have them, over what the asking client may read. */
import { defineComponent } from '../../lib/component/contract.js';
import { loadQueryEngine } from '../../lib/query/query-engine.js';
import { flag, integer, setting } from '../../lib/settings.js';
import { abandon, faultsOf, indexChanges, isComplete, rebuild } from './indexer.js';
import { PostingLists } from './posting-lists.js';
import { indexEndpoint, searchEndpoint, searchRoutes } from './routes.js';

const settings = {
  enabled: setting(
    'lws.search-index.enabled',
    flag,
    true,
    'Keep the type index, and answer type index and type search.',
    'storage',
  ),
  pageSize: setting(
    'lws.search-index.page-size',
    integer(1, 10_000),
    100,
    'Items on one page of the type index and the type search.',
    'storage',
  ),
  cacheBytes: setting(
    'lws.search-index.cache-bytes',
    integer(0),
    32 << 20,
    'Bytes of the index to keep in memory for searches that are repeated.',
  ),
};

export default defineComponent({
  name: 'search-index',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { pageSize, cacheBytes }) {
    if (!isComplete(platform.store)) await rebuild(platform.store, platform.progress('Rebuilding the type index'));
    platform.store.onTransaction(indexChanges);
    return {
      routes: searchRoutes({ platform, lists: new PostingLists(platform.store, cacheBytes), pageSize }),
      services: [
        { type: 'TypeIndexService', serviceEndpoint: indexEndpoint(platform) },
        { type: 'TypeSearchService', serviceEndpoint: searchEndpoint(platform) },
      ],
      capabilities: [{ type: 'https://w3c.github.io/lws-protocol/lws10-index/' }],
      // Loading the engine takes 0.2 s, which the first search would spend on the HTTP thread.
      async start() {
        await loadQueryEngine();
      },
    };
  },
  onDisabled: ({ store }) => abandon(store),
  check: faultsOf,
  commands: {
    reindex: {
      help: 'rebuild the type index of a server that is stopped, from its records and graphs',
      example: 'reindex --data-dir=lws-data',
      async run({ onStore, progress, print }) {
        const count = await onStore((store) => rebuild(store, progress('Rebuilding the type index')));
        print(`The type index tells of ${count} resources.`);
        return 0;
      },
    },
  },
});
