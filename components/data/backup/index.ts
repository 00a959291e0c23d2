/** Backups of a running or stopped server: creates, verifies and restores them. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineComponent } from '../../../lib/component/component.js';
import { flag, setting } from '../../../lib/settings/settings.js';
import { type Metric, metric } from '../../../lib/tools/metrics.js';
import { lastBackupName } from './last-backup.js';

const settings = {
  enabled: setting(
    'lws.backup.enabled',
    flag,
    true,
    'Allow controllers to back up the running server ("quadpod backup").',
  ),
};

function lastBackup(dataDir: string): readonly Metric[] {
  const file = join(dataDir, lastBackupName);
  if (!existsSync(file)) return [];
  const seconds = Date.parse(readFileSync(file, 'utf8')) / 1000;
  return [
    metric('gauge', 'backup_last_timestamp_seconds', 'Time of the last backup, in seconds since the epoch.', seconds),
  ];
}

export default defineComponent({
  name: 'backup',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform) {
    const [{ BackupJobs }, { backupRoutes }] = await Promise.all([import('./jobs.js'), import('./routes.js')]);
    const jobs = new BackupJobs(platform);
    return {
      routes: backupRoutes(platform, jobs),
      metrics: () => lastBackup(platform.dataDir),
      isBusy: () => jobs.isBusy,
      stop: () => jobs.stop(),
    };
  },
  commands: {
    backup: {
      help: 'back up the state, blobs and keys of the storage to a directory, also while a server is running',
      operand: 'DIR',
      flags: { key: 'FILE key of an owner, to authenticate to a running server (owner.key in lws.data-dir)' },
      switches: { full: 'write all graphs, not only those changed since the last backup in DIR' },
      example: 'backup /var/backups/quadpod --data-dir=lws-data',
      run: async (context) => (await import('./backup-command.js')).backUp(context),
    },
    verify: {
      help: 'verify a backup',
      operand: 'DIR',
      example: 'verify /var/backups/quadpod',
      run: async (context) => (await import('./verify-command.js')).verify(context),
    },
    restore: {
      help: 'restore a backup into an empty --data-dir',
      operand: 'DIR',
      flags: { rewrite: 'OLD=NEW replace the address of the backup (OLD) by lws.base-uri (NEW)' },
      example: 'restore /var/backups/quadpod --data-dir=lws-data',
      run: async (context) => (await import('./restore-command.js')).restore(context),
    },
  },
});
