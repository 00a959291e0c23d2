/** Several storages in one deployment: endpoint and command for operators (`lws.storages.*`). */
import { defineComponent } from '../../lib/component/component.js';
import { integer, issuerList, SettingsError, setting } from '../../lib/settings/settings.js';

export default defineComponent({
  name: 'storages',
  settings: {
    signUp: setting(
      'lws.storages.sign-up',
      issuerList,
      [] as readonly string[],
      'OpenID issuers whose users can sign up for a storage. Default: only operators and holders of their invitations create storages.',
    ),
    maxPerSubject: setting('lws.storages.max-per-subject', integer(1), 1, 'Maximum storages per signed-up user.'),
  },
  isEnabled: () => true,
  isOfProcess: true,
  async install(platform, settings) {
    const { deployment } = platform;
    if (!deployment) return {};
    if (deployment.isOneOrigin && settings.signUp.length > 0)
      throw new SettingsError(
        'lws.storages.sign-up requires a subdomain for each storage, such as https://{name}.pods.example/ in lws.storages.address: users who sign up must not share an origin.',
      );
    const { storageRoutes } = await import('./routes.js');
    return { routes: storageRoutes(platform, deployment, settings) };
  },
  commands: {
    storage: {
      help: 'add, list, show, set, suspend, resume, remove or restore storages, or invite a user to create one; works while the server is running',
      operand: 'ACTION [NAME...] [KEY=VALUE...]',
      flags: {
        owner: 'URI owner; separate several with commas',
        template: 'NAME template with the initial content, a directory in lws.storages.templates',
        days: 'NUMBER validity of an invitation, in days (7)',
        key: 'FILE key of an operator, to sign invitations (owner.key in lws.data-dir)',
      },
      switches: { now: 'delete permanently now, instead of after lws.storages.kept-days' },
      example: 'storage add alice --owner did:key:z6Mk... quota.max-bytes=5000000000',
      run: async (context) => (await import('./storage-command.js')).runStorage(context),
    },
  },
});
