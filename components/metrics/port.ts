/** Separate port for metrics, only on the loopback address. Local processes need no credential there. */
import { createServer, type Server } from 'node:http';
import { SettingsError } from '../../lib/plugin/component.js';
import type { Metrics } from './registry.js';

/** Listens on the port. @throws SettingsError if the port cannot be opened */
export async function listenForMetrics(metrics: Metrics, port: number): Promise<Server> {
  const server = createServer({ requestTimeout: 10_000, maxHeaderSize: 8 << 10 }, (req, res) => {
    const isKnown = req.url === '/metrics' && (req.method === 'GET' || req.method === 'HEAD');
    if (!isKnown)
      return void res.writeHead(404, { 'Content-Type': 'text/plain' }).end('Only GET /metrics is available here.\n');
    metrics.text().then(
      (text) => res.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' }).end(text),
      () => res.writeHead(503).end(),
    );
  });
  server.maxConnections = 32;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) =>
      reject(new SettingsError(`lws.metrics.listen-port is ${port}, which cannot be opened: ${error.message}.`)),
    );
    server.listen(port, '127.0.0.1', () => resolve());
  });
  return server.unref();
}
