/** Backups of a running or stopped server: create, verify and restore. */
import { defineComponent } from '../../lib/component/contract.js';
import { flag, setting } from '../../lib/settings.js';

const settings = {
  enabled: setting(
    'lws.backup.enabled',
    flag,
    true,
    'Let controllers make back-ups of the running server ("quadpod backup").',
  ),
};

export default defineComponent({
  name: 'backup',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform) {
    const [{ BackupJobs }, { backupRoutes }] = await Promise.all([import('./jobs.js'), import('./routes.js')]);
    const jobs = new BackupJobs(platform);
    return { routes: backupRoutes(platform, jobs), isBusy: () => jobs.isBusy, stop: () => jobs.stop() };
  },
  commands: {
    backup: {
      help: 'keep the state, blobs and keys of the storage in a folder, beside a running server too',
      operand: 'DIR',
      flags: { key: 'FILE the key of an owner, to ask a running server (owner.key in lws.data-dir)' },
      switches: { full: 'write all graphs again, and not those alone that changed since the last one in DIR' },
      example: 'backup /var/backups/quadpod --data-dir=lws-data',
      run: async (context) => (await import('./backup-command.js')).backUp(context),
    },
    verify: {
      help: 'tell whether a back-up is whole',
      operand: 'DIR',
      example: 'verify /var/backups/quadpod',
      run: async (context) => (await import('./verify-command.js')).verify(context),
    },
    restore: {
      help: 'put a back-up into an empty --data-dir',
      operand: 'DIR',
      flags: { rewrite: 'OLD=NEW give it the new address lws.base-uri' },
      example: 'restore /var/backups/quadpod --data-dir=lws-data',
      run: async (context) => (await import('./restore-command.js')).restore(context),
    },
  },
});
