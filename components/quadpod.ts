/**
 * Package entry, to embed the server in a program: `import { createServer } from 'quadpod'`. It must not touch the process: no
 * signals, output, exit or environment.
 */

import { createServer as createStorageServer, type Server } from '../lib/server/server.js';
import { coreSettings } from '../lib/server/settings/core-settings.js';
import { effectiveSettings } from '../lib/server/settings/effective-settings.js';
import { createLog } from '../lib/tools/log.js';
import { standardComponents } from './index.js';

export type { Component } from '../lib/component/component.js';
export { defineComponent } from '../lib/component/component.js';
export type { Installation, Platform } from '../lib/component/contract.js';
export { SettingsError } from '../lib/settings/settings.js';
export { StoreUnavailableError } from '../lib/storage/level/durable-level.js';

export type StorageServer = Omit<Server, 'store'>;

/** Settings by name, with values as in `config.json`. Omitted settings have their defaults. */
export type ServerSettings = Readonly<Record<`lws.${string}`, unknown>>;

export interface ServerOptions {
  /** Receives the log as JSON lines, at level `lws.log.level`. Absent: no log. */
  readonly log?: { write(line: string): unknown };
}

/**
 * Opens a storage, to be mounted in your own server or to listen by itself.
 * @throws SettingsError for invalid settings, StoreUnavailableError if the directory cannot be used. The message is a sentence
 * for the operator
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
