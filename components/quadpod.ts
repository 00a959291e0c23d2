/**
 * The package's entry, for a program that has the server within it: `import { createServer } from 'quadpod'`. It must not touch
 * the process: no signals, no output, no exit, no environment.
 */
import { createLog } from '../lib/log.js';
import { createServer as createStorageServer, type Server } from '../lib/server/server.js';
import { coreSettings } from '../lib/server/settings/core-settings.js';
import { effectiveSettings } from '../lib/server/settings/effective-settings.js';
import { standardComponents } from './index.js';

export type { Component, Installation, Platform } from '../lib/component/contract.js';
export { defineComponent } from '../lib/component/contract.js';
export { SettingsError } from '../lib/settings.js';
export { StoreUnavailableError } from '../lib/storage/level/durable-level.js';

export type StorageServer = Omit<Server, 'store'>;

/** Settings by their names, with values as in `config.json`; what is left out has its default. */
export type ServerSettings = Readonly<Record<`lws.${string}`, unknown>>;

export interface ServerOptions {
  /** Takes the lines of the log, JSON, as many as `lws.log.level` says; absent: they go nowhere. */
  readonly log?: { write(line: string): unknown };
}

/**
 * Opens a storage, to be mounted in a server of one's own or to listen by itself.
 * @throws SettingsError for settings that cannot work, StoreUnavailableError when the folder cannot be used; the message is
 *   a sentence for whoever runs the program
 */
export async function createServer(given: ServerSettings, { log }: ServerOptions = {}): Promise<StorageServer> {
  const sources = { file: { name: 'the call of createServer', content: given } };
  const { settings, components } = await effectiveSettings(sources, standardComponents);
  const { logLevel } = settings.of(coreSettings);
  return createStorageServer(settings, {
    components,
    log: log ? createLog(logLevel, log as { write(line: string): void }) : createLog('silent', { write() {} }),
  });
}
