/** Import and export: over HTTP while the server is running, on the data directory while it is stopped. */
import { defineComponent } from '../../../lib/component/component.js';
import { flag, setting } from '../../../lib/settings/settings.js';

const settings = {
  enabled: setting(
    'lws.transfer.enabled',
    flag,
    true,
    'Allow controllers to import ("quadpod import"), and all callers to export the resources they can read ("quadpod export").',
  ),
};

const moveHelp = {
  operand: 'SOURCE DESTINATION',
  flags: { key: 'FILE key of an owner (default: owner.key in lws.data-dir)' },
  switches: {
    overwrite: 'replace an existing destination',
    'rewrite-links': 'replace the old IRIs in the triples and links of what is moved or copied',
  },
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
      metrics: () => jobs.metrics(),
      isBusy: () => jobs.isBusy,
      // Clients that follow an import receive the report that it was interrupted.
      drain: () =>
        void jobs.stop().catch((error: unknown) => platform.log.error({ err: error }, 'an import did not stop')),
      stop: () => jobs.stop(),
    };
  },
  commands: {
    import: {
      help: 'import a file or directory, also while a server is running',
      operand: 'SOURCE',
      flags: {
        into: 'IRI target container (default: the root)',
        to: 'URL target container on another server of any kind, instead of --into',
        token: 'FILE bearer token for --to',
        format: 'NAME format of the source, if its name does not determine it',
        rewrite: 'OLD=NEW replace IRI prefixes',
        'on-conflict': 'WHAT for existing resources: fail, skip or replace',
        key: 'FILE key of an owner, to authenticate to a running server (owner.key in lws.data-dir)',
      },
      switches: {
        'dry-run': 'report the result without writing anything',
        grants: 'import grants, access requests and subscriptions that refer only to resources below --into',
        acls: 'import access control lists',
        resume: 'continue an interrupted import of the same source',
      },
      example: 'import dump.nq.gz --into http://localhost:8080/data/',
      run: async (context) => (await import('./import-command.js')).runImport(context),
    },
    export: {
      help: 'export a container or the whole storage to a file (.nq, .nq.gz, .zip) or directory, also while a server is running',
      operand: '[IRI]',
      flags: {
        output: 'FILE or directory (-o); default: standard output',
        format: 'NAME output format, if the output name does not determine it',
        key: 'FILE key of an owner, to authenticate to a running server (owner.key in lws.data-dir)',
      },
      example: 'export http://localhost:8080/data/ -o data.nq.gz',
      run: async (context) => (await import('./export-command.js')).runExport(context),
    },
    mv: {
      help: 'move or rename a resource, or a container with everything in it, on the running server',
      ...moveHelp,
      example: 'mv /notes/draft /archive/draft',
      run: async (context) => (await import('./move-command.js')).runMove(context, 'MOVE'),
    },
    cp: {
      help: 'copy a resource, or a container with everything in it, on the running server',
      ...moveHelp,
      example: 'cp /notes/ /notes-2026/',
      run: async (context) => (await import('./move-command.js')).runMove(context, 'COPY'),
    },
  },
});
