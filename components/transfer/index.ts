/** Import and export: over HTTP while the server is running, on the data directory while it is stopped. */
import { defineComponent } from '../../lib/component/contract.js';
import { flag, setting } from '../../lib/settings.js';

const settings = {
  enabled: setting(
    'lws.transfer.enabled',
    flag,
    true,
    'Let controllers import ("quadpod import"), and everybody export what they may read ("quadpod export").',
  ),
};

export default defineComponent({
  name: 'transfer',
  settings,
  isEnabled: ({ enabled }) => enabled,
  takesTemplates: true,
  formats: () => new URL('./formats/own.js', import.meta.url).href,
  async install(platform) {
    const [{ ImportJobs }, { importRoutes }, { exportRoutes }, { takeTemplate }] = await Promise.all([
      import('./import-jobs.js'),
      import('./import-routes.js'),
      import('./export-routes.js'),
      import('./template.js'),
    ]);
    const jobs = await ImportJobs.open(platform);
    return {
      start: () => takeTemplate(platform, jobs),
      routes: [...importRoutes(platform, jobs), ...exportRoutes(platform)],
      metrics: () => jobs.measures(),
      isBusy: () => jobs.isBusy,
      // Clients that follow an import receive the report that it was interrupted.
      drain: () =>
        void jobs.stop().catch((error: unknown) => platform.log.error({ err: error }, 'an import did not stop')),
      stop: () => jobs.stop(),
    };
  },
  commands: {
    import: {
      help: 'bring a file or folder into the storage, beside a running server too',
      operand: 'SOURCE',
      flags: {
        into: 'IRI the container that it goes into (the root)',
        to: 'URL a container of another server, of whatever make, that it is sent to instead',
        token: 'FILE the bearer token for --to',
        format: 'NAME of the source, when its name does not tell',
        rewrite: 'OLD=NEW replace the beginnings of IRIs',
        'on-conflict': 'WHAT to do with resources that are there: fail, skip or replace',
        key: 'FILE the key of an owner, to ask a running server (owner.key in lws.data-dir)',
      },
      switches: {
        'dry-run': 'tell what would come, and write nothing',
        grants: 'take its grants, access requests and subscriptions, where all that they are about lies below --into',
        acls: 'take its access control lists',
        resume: 'go on where an earlier import of the same source stopped',
      },
      example: 'import dump.nq.gz --into http://localhost:8080/data/',
      run: async (context) => (await import('./import-command.js')).runImport(context),
    },
    export: {
      help: 'write a container, or the whole storage, as a file (.nq, .nq.gz, .zip) or a folder, of a running server too',
      operand: '[IRI]',
      flags: {
        output: 'FILE or folder (-o); without it the standard output',
        format: 'NAME of what is written, when the name of the output does not tell',
        key: 'FILE the key of an owner, to ask a running server (owner.key in lws.data-dir)',
      },
      example: 'export http://localhost:8080/data/ -o data.nq.gz',
      run: async (context) => (await import('./export-command.js')).runExport(context),
    },
  },
});
