/** Import and export: of a running server over HTTP, and of one that is stopped. */
import { type Command, type CommandContext, defineComponent } from '../../lib/component.js';
import { LwsError } from '../../lib/errors.js';
import { flag, setting } from '../../lib/settings.js';
import { TransferError } from './member.js';

const settings = {
  enabled: setting(
    'lws.transfer.enabled',
    flag,
    true,
    'Let controllers import ("quadpod import"), and everybody export what they may read ("quadpod export").',
  ),
};

/** What the operator did is told in a sentence. */
const told =
  (load: () => Promise<(context: CommandContext) => Promise<number>>): Command['run'] =>
  async (context) => {
    try {
      return await (await load())(context);
    } catch (error) {
      if (!(error instanceof TransferError || error instanceof LwsError)) throw error;
      process.stderr.write(`quadpod: ${error.message}\n`);
      return 2;
    }
  };

export default defineComponent({
  name: 'transfer',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(house) {
    const [{ ImportJobs }, { importRoutes }, { exportRoutes }] = await Promise.all([
      import('./import-jobs.js'),
      import('./import-routes.js'),
      import('./export-routes.js'),
    ]);
    const jobs = await ImportJobs.open(house);
    // Its thread has LevelDB open; the import can go on.
    house.store.beforeReopening(async () => {
      await jobs.abandon();
      return () => {};
    });
    return {
      routes: [...importRoutes(house, jobs), ...exportRoutes(house)],
      measures: () => jobs.measures(),
      stop: () => jobs.stop(),
    };
  },
  commands: {
    import: {
      help: 'a file or folder into the storage, beside a running server too',
      operand: 'SOURCE',
      flags: ['into', 'format', 'rewrite', 'on-conflict', 'key'],
      switches: ['dry-run', 'resume'],
      run: told(async () => (await import('./import-command.js')).runImport),
    },
    export: {
      help: 'a container, or the whole storage, as a file (.nq, .nq.gz, .zip) or a folder, of a running server too',
      operand: '[IRI]',
      flags: ['output', 'format', 'key'],
      run: told(async () => (await import('./export-command.js')).runExport),
    },
  },
});
