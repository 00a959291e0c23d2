/** Rule 10.3, "Limits on strangers": small bodies with a large expansion are rejected before they are expanded. */
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import type { ServerProcess } from '../support/process.js';

const owner = ed25519Identity();

describe('Bodies that expand', function () {
  this.timeout(60_000);
  this.retries(1);
  let server: ServerProcess;
  const put = (body: string, type = 'text/turtle'): Promise<Answer> =>
    request(`${server.root}r`, { method: 'PUT', headers: { ...by(server, owner), 'Content-Type': type }, body });

  before(async () => {
    server = await startOwned(owner, { LWS_REQUIRE_CONDITIONAL_WRITES: 'false' });
  });
  after(() => server?.kill());

  const names = (count: number): string => Array.from({ length: count }, (_, at) => `x:a${at}`).join(', ');
  const manyNames = names(20_000);
  const attacks: readonly (readonly [what: string, status: number, type: string, body: () => string])[] = [
    [
      'a prefix of 1 MB and 100 names of it',
      400,
      'text/turtle',
      () => `@prefix x: <https://e.example/${'x'.repeat(1 << 20)}> . <#a> <#b> ${names(100)} .`,
    ],
    [
      'a prefix of 60 KB and 20 000 names of it',
      413,
      'text/turtle',
      () => `@prefix x: <https://e.example/${'x'.repeat(60_000)}> . <#a> <#b> ${manyNames} .`,
    ],
    [
      'the same in TriG',
      413,
      'application/trig',
      () => `@prefix x: <https://e.example/${'x'.repeat(60_000)}> . <#a> <#b> ${manyNames} .`,
    ],
    [
      'the same in JSON-LD',
      413,
      'application/ld+json',
      () =>
        JSON.stringify({
          '@context': { x: `https://e.example/${'x'.repeat(60_000)}/`, '@base': null },
          '@id': 'https://e.example/',
          'https://e.example/p': Array.from({ length: 3_000 }, (_, at) => ({ '@id': `x:${at}` })),
        }),
    ],
    ['a list of 8 MB', 413, 'text/turtle', () => `<#a> <#b> ( ${'1 '.repeat(4 << 20)}) .`],
  ];
  for (const [what, status, type, body] of attacks)
    it(`${what} is ${status} (rule 10.3)`, async () => {
      const impact = await measureImpact(server, () => put(body(), type));
      expect(impact.result.status, impact.result.text).to.equal(status);
      expectNoImpact(impact);
    });

  it('a SPARQL update with a prefix of 60 KB and 5 000 prefixed names is rejected (rule 1.13)', async () => {
    expect((await put('<#a> <#b> 1 .')).status).to.be.oneOf([201, 204]);
    const update = `PREFIX x: <https://e.example/${'x'.repeat(60_000)}> INSERT { <#a> <#b> ${names(5_000)} } WHERE {}`;
    const impact = await measureImpact(server, () =>
      request(`${server.root}r`, {
        method: 'PATCH',
        headers: { ...by(server, owner), 'Content-Type': 'application/sparql-update' },
        body: update,
      }),
    );
    expect(impact.result.status, impact.result.text).to.equal(413);
    expectNoImpact(impact);
  });

  it('a list of 9 000 numbers is stored and returned', async () => {
    const numbers = Array.from({ length: 9_000 }, (_, at) => at).join(' ');
    expect((await put(`<#a> <#b> ( ${numbers} ) .`)).status).to.be.oneOf([201, 204]);
    const { text } = await request(`${server.root}r`, { headers: by(server, owner) });
    expect(text).to.include(numbers);
  });
});
