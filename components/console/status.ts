/** How the storage is: versions, room, and the settings in force. */
import { type Platform, packageVersion } from '../../lib/component/basics.js';
import type { Route } from '../../lib/component/http.js';
import { jsonReply } from './json-messages.js';

export function statusRoute({ store, clock, describeSettings }: Platform): Route {
  const version = packageVersion();
  const started = clock();
  const settings = describeSettings();
  const quota = settings.find(({ name }) => name === 'lws.quota.max-bytes')?.value;
  return {
    methods: ['GET', 'HEAD'],
    path: '{prefix}/status',
    access: 'controller',
    handle: () =>
      jsonReply(200, {
        version,
        node: process.version,
        uptimeSeconds: Math.max(0, Math.floor((clock() - started) / 1000)),
        bytes: store.bytes,
        /** 0: no limit. */
        quotaBytes: quota,
        settings,
      }),
  };
}
