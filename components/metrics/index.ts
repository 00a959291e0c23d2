/** Prometheus metrics: for controllers at `{prefix}/metrics`, and without a credential on a loopback port. */

import type { Server } from 'node:http';
import { defineComponent, flag, integer, optional, setting } from '../../lib/plugin/component.js';
import { route } from '../../lib/plugin/requests.js';

const settings = {
  enabled: setting(
    'lws.metrics.enabled',
    flag,
    true,
    'Collect metrics of requests, batches and queries for Prometheus.',
  ),
  port: setting(
    'lws.metrics.listen-port',
    optional(integer(1, 65_535)),
    null,
    'Port of 127.0.0.1 for /metrics without a credential. Default: only controllers, at the system path /metrics.',
  ),
};

export default defineComponent({
  name: 'metrics',
  settings,
  isEnabled: ({ enabled }) => enabled,
  isOfProcess: true,
  async install({ store, administration: { metrics } }, { port }) {
    const { Metrics } = await import('./registry.js');
    const registry = new Metrics(metrics);
    store.onBatch((batch) => registry.written(batch));
    let server: Server | undefined;
    return {
      routes: [
        route('controller', 'GET HEAD {prefix}/metrics', async () => ({
          status: 200,
          fields: { 'Content-Type': registry.contentType, 'Cache-Control': 'private, no-store' },
          body: Buffer.from(await registry.text()),
        })),
      ],
      onAnswered: (answered) => registry.answered(answered),
      async start() {
        if (port === null) return;
        const { listenForMetrics } = await import('./port.js');
        server = await listenForMetrics(registry, port);
      },
      stop: () => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())),
    };
  },
});
