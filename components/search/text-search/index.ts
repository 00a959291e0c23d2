/** Text search over the resources that the caller can read: literals, names, link titles and text contents. */

import { defineComponent } from '../../../lib/component/component.js';
import { lws } from '../../../lib/rdf/vocabulary.js';
import { flag, integer, setting } from '../../../lib/settings/settings.js';
import { BackgroundRebuild } from '../postings/background-rebuild.js';
import { PostingLists } from '../postings/posting-lists.js';
import { documentPostings, textPostings } from './entries.js';
import { indexTexts, textIndex } from './indexer.js';
import { answerTexts } from './literals.js';
import { isQuicklyIndexed, RebuildJob } from './rebuild-job.js';
import { labelsEndpoint, textRoutes, textSearchEndpoint } from './routes.js';
import { loadStemmers } from './stems.js';
import { textTools } from './tools.js';

const settings = {
  enabled: setting(
    'lws.text-search.enabled',
    flag,
    false,
    'Maintain the text index, and serve text search and labels.',
    'storage',
  ),
  pageSize: setting(
    'lws.text-search.page-size',
    integer(1, 1_000),
    20,
    'Page size of the text search, in items.',
    'storage',
  ),
  cacheBytes: setting(
    'lws.text-search.cache-bytes',
    integer(0),
    64 << 20,
    'Size of the text index cache for repeated words, in bytes.',
  ),
};

export default defineComponent({
  name: 'text-search',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { pageSize, cacheBytes }) {
    const { store } = platform;
    await loadStemmers();
    const progress = platform.progress('Rebuilding the text index');
    // Servers that share a storage rebuild the index at the start: they do not see the phases of a background rebuild.
    if (!textIndex.isComplete(store) && (isQuicklyIndexed(store) || store.coordination.hasOthers))
      await textIndex.rebuild(store, progress);
    const index = new BackgroundRebuild(textIndex, store);
    const rebuild = new RebuildJob(index, platform.log, progress);
    store.readsLiterals = true;
    const listener = index.listener((tx) => indexTexts(store, tx));
    store.onTransaction(listener, () => index.isComplete);
    // Each cache of lists has a quarter of the memory. The other half is for hits in lists of words.
    const documents = new PostingLists(store, documentPostings, cacheBytes / 4);
    const texts = new PostingLists(store, textPostings, cacheBytes / 4);
    const endpoints = { platform, documents, texts, pageSize, index };
    return {
      routes: textRoutes(endpoints),
      tools: textTools(endpoints),
      searchTexts: (access, call) => answerTexts({ storage: platform, access, texts, documents }, index, call),
      start: () => rebuild.start(),
      stop: () => rebuild.stop(),
      isBusy: () => rebuild.isRunning,
      services: [
        { type: `${lws.namespace}TextSearchService`, serviceEndpoint: textSearchEndpoint(platform) },
        { type: `${lws.namespace}LabelService`, serviceEndpoint: labelsEndpoint(platform) },
      ],
    };
  },
  onDisabled: ({ store }) => textIndex.abandon(store),
  check: (store) => textIndex.faultsOf(store),
  rebuild: (store) => textIndex.abandon(store),
});
