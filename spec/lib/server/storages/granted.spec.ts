/** Who counts as given something of a storage, so that it keeps its place for them and the opening costs them nothing (rule 21.4). */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { standardComponents } from '../../../../components/index.js';
import { defineComponent } from '../../../../lib/component/basics.js';
import type { Component } from '../../../../lib/component/contract.js';
import { createLog } from '../../../../lib/log.js';
import type { Answered } from '../../../../lib/measures.js';
import { createServer, type Server } from '../../../../lib/server/server.js';
import { loadSettings } from '../../../../lib/settings.js';
import { tables } from '../../../support/deployment.js';
import { Pod } from '../../../support/deployments.js';
import { freePort } from '../../../support/free-port.js';
import { ed25519Identity } from '../../../support/identity.js';

const turtle = { 'Content-Type': 'text/turtle' };

describe('Somebody who is given something of a storage (rule 21.4)', function () {
  this.timeout(60_000);
  const heard: Answered[] = [];
  const stranger = ed25519Identity();
  let dataDir: string;
  let server: Server;
  let pod: Pod;

  before(async () => {
    const port = await freePort();
    pod = new Pod(`http://localhost:${port}/`, port);
    dataDir = mkdtempSync(join(tmpdir(), 'quadpod-granted-'));
    const flags = { 'base-uri': pod.base, 'data-dir': dataDir, owners: pod.owner.did };
    const probe = defineComponent({
      name: 'probe',
      settings: {},
      isEnabled: () => true,
      install: async () => ({ onAnswered: (answered: Answered) => void heard.push(answered) }),
    }) as unknown as Component;
    const settings = loadSettings(tables, { flags });
    server = await createServer(settings, { components: [...standardComponents, probe], log: createLog('silent') });
    await server.listen();
    expect((await pod.put('x', '<a:b> <a:c> <a:d> .')).status).to.equal(201);
  });
  after(async () => {
    await server.close();
    rmSync(dataDir, { recursive: true });
  });

  for (const [who, method, path, isGranted] of [
    ['the owner', 'GET', 'x', true],
    ['the owner', 'PUT', 'y', true],
    ['a stranger', 'GET', 'x', false],
    ['a stranger', 'PUT', 'z', false],
    ['a stranger', 'GET', '', false],
    ['a stranger', 'OPTIONS', 'x', false],
    ['a stranger', 'OPTIONS', '', false],
    ['a stranger', 'GET', 'app/', false],
    ['a stranger', 'GET', 'app', false],
    ['a stranger', 'GET', '.lws/storage-description', false],
    ['a stranger', 'GET', '.lws/jwks', false],
    ['a stranger', 'GET', '.lws/subscriptions', false],
    ['a stranger', 'GET', '.well-known/lws-configuration', false],
    ['nobody', 'GET', '', false],
  ] as const)
    it(`${method} /${path} of ${who}: ${isGranted}`, async () => {
      heard.length = 0;
      const token = { 'the owner': pod.token(), 'a stranger': pod.token(stranger), nobody: null }[who];
      await pod.ask(method, path, method === 'PUT' ? turtle : {}, method === 'PUT' ? '' : undefined, token);
      expect(heard.map((answered) => answered.isGranted)).to.deep.equal([isGranted]);
    });
});
