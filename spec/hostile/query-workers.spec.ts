/** Rule 14.7: unauthorized callers with many identities do not block the queries of other callers. */
import { expect } from 'chai';
import { by, expectNoImpact, measureImpact, startOwned } from '../support/attack.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { slowness } from '../support/patience.js';
import type { ServerProcess } from '../support/process.js';
import { sparqlQuery } from '../support/sparql.js';
import { until } from '../support/until.js';

const owner = ed25519Identity();
const strangers = 12;
const values = Array.from({ length: 60 }, (_, at) => at).join(' ');
const cross = `SELECT (COUNT(*) AS ?n) { ${'abcdef'.replace(/./g, (name) => `VALUES ?${name} { ${values} } `)} }`;

describe('Query workers under attack', function () {
  // Each killed thread is loaded again, which takes seconds while other specs run.
  this.timeout(180_000);
  this.retries(1);
  let server: ServerProcess;
  const ask = (fields: Record<string, string>, query: string): Promise<Answer> =>
    request(`${server.root}.lws/sparql`, {
      method: 'QUERY',
      headers: { ...fields, 'Content-Type': sparqlQuery },
      body: query,
    });

  before(async () => {
    server = await startOwned(owner, {
      LWS_SPARQL_ENDPOINT_MAX_CONCURRENT: '3',
      LWS_SPARQL_ENDPOINT_STRANGER_TIMEOUT_SECONDS: '1',
    });
  });
  after(() => server?.kill());

  it('12 identities that send VALUES queries do not delay those of the owner', async () => {
    const asOwner = by(server, owner);
    expect((await ask(asOwner, 'ASK {}')).status).to.equal(200);
    const impact = await measureImpact(server, async () => {
      const attack = Array.from({ length: strangers }, () => ask(by(server), cross).catch(() => undefined));
      const waits: number[] = [];
      for (let at = 0; at < 8; at++) {
        const began = performance.now();
        expect((await ask(asOwner, 'ASK {}')).status).to.equal(200);
        waits.push(performance.now() - began);
      }
      // Each attacker would wait its turn of one second, so a sample of responses is sufficient.
      const ended = await Promise.race(attack);
      return { longest: Math.max(...waits), status: ended?.status };
    });
    expect(impact.result.status).to.equal(422);
    expect(impact.result.longest, 'the longest ASK of the owner').to.be.below(15_000 * slowness);
    // Threads end one after the other, and the allocator retains their memory for a while.
    expectNoImpact(impact, 500);
  });

  it('unauthorized queries just too long for the HTTP thread do not block it', async () => {
    const asOwner = by(server, owner);
    const isLoaded = async (): Promise<boolean> => {
      for (let n = 0; n < 10; n++) expect((await ask(asOwner, 'ASK { <x:a> <x:b> 1 }')).status).to.equal(200);
      await new Promise((resolve) => setTimeout(resolve, 400));
      const { text } = await request(`${server.root}.lws/metrics`, { headers: asOwner });
      return !/^quadpod_sparql_short_queries_total 0$/m.test(text);
    };
    await until(isLoaded, 'the HTTP thread answers queries', 30_000);
    const names = (name: string): string => `VALUES ?${name} { ${Array.from({ length: 99 }, (_, n) => n).join(' ')} }`;
    const impact = await measureImpact(server, async () => {
      let [count, answered] = [0, 0];
      const attack = async (): Promise<void> => {
        const stranger = by(server);
        // Each has a different form. Those with two names are also too long for one message.
        for (let n = 0; n < 12; n++) {
          const more = n % 6 === 0 ? names('b') : '';
          const query = `SELECT * { OPTIONAL { <x:a> <x:b> ?o } ${names(`v${count++}`)} ${more} }`;
          // On a busy machine some are aborted: an unauthorized caller has one second.
          const answer = await ask(stranger, query).catch(() => undefined);
          if (answer?.status === 200) answered++;
        }
      };
      await Promise.all(Array.from({ length: 12 }, attack));
      return answered;
    });
    expect(impact.result, 'answers to strangers').to.be.above(0);
    expectNoImpact(impact);
  });
});
