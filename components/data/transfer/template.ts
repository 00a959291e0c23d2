/** Imports the template of a new storage of a deployment: a directory in the storage's data directory, deleted after the import. */
import { existsSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Platform } from '../../../lib/component/contract.js';
import { templateFolder } from '../../../lib/component/deployment.js';
import { ImportJob } from './import-job.js';
import type { ImportJobs } from './import-jobs.js';
import { newState } from './import-state.js';

/** Imports the template, if it exists. Interrupted imports start again. @throws TransferError, LwsError if it is unreadable */
export async function takeTemplate(platform: Platform, jobs: ImportJobs): Promise<void> {
  const source = join(resolve(platform.dataDir), templateFolder);
  if (!existsSync(source)) return;
  // ACL documents are files next to their resources, as in a pod of Community Solid Server.
  const hasLists = (await readdir(source, { recursive: true })).some((name) => name.endsWith('.acl'));
  const state = newState({
    id: 'template',
    name: 'The template',
    source,
    into: platform.rootIri,
    rewrite: [],
    acls: true,
    conflict: 'replace',
    began: platform.clock(),
    ...(hasLists ? { format: 'css' } : {}),
  });
  const job = new ImportJob(state, { platform, access: {}, isOperator: true, dryRun: false });
  await job.run();
  const { told } = job.state;
  if (told.length > 0) platform.log.warn({ leftOut: told }, 'parts of a template were skipped');
  await jobs.cancel(state.id);
  await rm(source, { recursive: true, force: true });
}
