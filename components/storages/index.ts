/** Many storages in one deployment: the operator's endpoint and command (`lws.storages.*`). */
import { defineComponent } from '../../lib/component/basics.js';

export default defineComponent({
  name: 'storages',
  settings: {},
  isEnabled: () => true,
  isOfProcess: true,
  async install(platform) {
    const { deployment } = platform;
    if (!deployment) return {};
    const { storageRoutes } = await import('./routes.js');
    return { routes: storageRoutes(platform, deployment) };
  },
  commands: {
    storage: {
      help: 'add, list, show, set, suspend, resume, remove or restore storages, beside a running server too',
      operand: 'ACTION [NAME] [KEY=VALUE...]',
      flags: { owner: 'URI of an owner; several are comma separated' },
      switches: { now: 'remove for good, without the days of lws.storages.kept-days' },
      example: 'storage add alice --owner did:key:z6Mk... quota.max-bytes=5000000000',
      run: async (context) => (await import('./storage-command.js')).runStorage(context),
    },
  },
});
