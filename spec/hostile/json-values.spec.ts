/** JSON of many small values: 60 MB of empty arrays would be twenty million objects in memory. */
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';

const owner = ed25519Identity();
const arrays = (count: number): string => `[${'[],'.repeat(count - 1)}[]]`;
const many = arrays(20_000_000);
const jsonPatch = 'application/json-patch+json';

describe('JSON of many values', function () {
  this.timeout(120_000);
  let server: ServerProcess;
  const send = (method: string, name: string, type: string, body: string): Promise<Answer> =>
    request(server.root + name, {
      method,
      headers: { ...by(server, owner), 'Content-Type': type, 'If-Match': '*' },
      body,
    });
  const put = (name: string, type: string, body: string): Promise<Answer> =>
    request(server.root + name, { method: 'PUT', headers: { ...by(server, owner), 'Content-Type': type }, body });

  // A new process each time: memory in use after one attack would hide the growth of the next.
  beforeEach(async () => {
    server = await startOwned(owner);
    for (const [name, body] of Object.entries({ array: '[]', object: '{"a":{}}', half: arrays(1_000_000) }))
      expect((await put(name, 'application/json', body)).status).to.equal(201);
  });
  afterEach(() => server?.kill());

  const attacks: Readonly<Record<string, () => Promise<Answer>>> = {
    'a document': () => put('new', 'application/json', many),
    'JSON of another type': () => put('new', 'application/geo+json', many),
    'a JSON-LD document': () => put('new', 'application/ld+json', many),
    'a JSON Patch': () => send('PATCH', 'array', jsonPatch, `[{"op":"add","path":"/-","value":${many}}]`),
    'a merge patch': () => send('PATCH', 'object', 'application/merge-patch+json', `{"a":${many}}`),
    'a JSON Patch that doubles a document': () =>
      send('PATCH', 'half', jsonPatch, JSON.stringify(['/-', '/-'].map((path) => ({ op: 'copy', from: '', path })))),
    'a JSON Patch whose result is too large': () =>
      send('PATCH', 'half', jsonPatch, `[{"op":"add","path":"/-","value":${arrays(1_500_000)}}]`),
  };
  for (const [what, attack] of Object.entries(attacks))
    it(`rejects ${what} of too many values with 413, without affecting other clients (rule 1.10)`, async () => {
      const impact = await measureImpact(server, attack);
      expect(impact.result.status, impact.result.text).to.equal(413);
      expect(impact.result.text).to.include('lws.json.max-values');
      // A body of 60 MB, or a document of two million values in a thread, uses about 300 MB. Without the limit it was 1.6 to 2.5 GB.
      expectNoImpact(impact, 500);
      for (const [name, length] of [
        ['array', 2],
        ['object', 8],
        ['half', 3_000_001],
      ] as const)
        expect((await request(server.root + name)).headers['content-length'], name).to.equal(String(length));
      expect((await request(`${server.root}new`)).status).to.equal(404);
    });
});
