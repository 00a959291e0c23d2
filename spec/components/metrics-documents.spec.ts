/** Dashboard and alerts use only existing metrics. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { packageRoot } from '../../lib/tools/threads/package-root.js';
import { request } from '../support/http.js';
import { startSpecServer } from '../support/server.js';

const read = (name: string): string => readFileSync(join(packageRoot, 'docs/operate', name), 'utf8');

describe('Dashboard and alerts', () => {
  for (const name of ['grafana.json', 'alerts.yaml'])
    it(`${name} uses only existing metrics`, async () => {
      const server = await startSpecServer({ settings: {} });
      const headers = { Authorization: `Bearer ${server.ownerToken}` };
      await request(`${server.root}c/`, { method: 'PUT', headers });
      const { text } = await request(`${server.root}.lws/metrics`, { headers });
      await server.stop();
      const told = new Set([...text.matchAll(/^# TYPE (\S+) /gm)].map(([, metric]) => metric));
      const named = [...read(name).matchAll(/\b(?:quadpod|process|nodejs)_[a-z0-9_]+/g)].map(([metric]) =>
        metric.replace(/_(?:bucket|sum|count)$/, ''),
      );
      expect(named.length).to.be.above(5);
      expect(named.filter((metric) => !told.has(metric))).to.deep.equal([]);
    });
});
