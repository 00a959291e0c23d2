/** Many storages in one deployment: the operator's endpoint and command (`lws.storages.*`). */
import { defineComponent } from '../../lib/component/contract.js';
import { integer, issuerList, SettingsError, setting } from '../../lib/settings.js';

export default defineComponent({
  name: 'storages',
  settings: {
    signUp: setting(
      'lws.storages.sign-up',
      issuerList,
      [] as readonly string[],
      'OpenID issuers whose people make storages for themselves; nothing: operators make them, and those whom they invite.',
    ),
    maxPerSubject: setting('lws.storages.max-per-subject', integer(1), 1, 'Storages that one of those may have.'),
  },
  isEnabled: () => true,
  isOfProcess: true,
  async install(platform, settings) {
    const { deployment } = platform;
    if (!deployment) return {};
    if (deployment.isOneOrigin && settings.signUp.length > 0)
      throw new SettingsError(
        'lws.storages.sign-up needs a host for each storage, as https://{name}.pods.example/ in lws.storages.address has it: strangers are not to share an origin.',
      );
    const { storageRoutes } = await import('./routes.js');
    return { routes: storageRoutes(platform, deployment, settings) };
  },
  commands: {
    storage: {
      help: 'add, list, show, set, suspend, resume, remove or restore storages, beside a running server too; or invite somebody to one',
      operand: 'ACTION [NAME...] [KEY=VALUE...]',
      flags: {
        owner: 'URI of an owner; several are comma separated',
        template: 'NAME of what it begins with, a folder of lws.storages.templates',
        days: 'NUMBER that an invitation is good for (7)',
        key: 'FILE the key of an operator, to make an invitation (owner.key in lws.data-dir)',
      },
      switches: { now: 'remove for good, without the days of lws.storages.kept-days' },
      example: 'storage add alice --owner did:key:z6Mk... quota.max-bytes=5000000000',
      run: async (context) => (await import('./storage-command.js')).runStorage(context),
    },
  },
});
