/** Bad input: slow, aborted and rejected uploads, Expect: 100-continue (rule 2.6). */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectChallenge, expectProblem, expectUnparsed } from '../support/expectations.js';
import { type Answer, exchange, head, request, type Step } from '../support/http.js';
import { slowness } from '../support/patience.js';

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Files of the storage outside the database. */
function files({ server }: StorageUnderTest): string[] {
  if (!server) return [];
  const all = readdirSync(server.dataDir, { recursive: true, withFileTypes: true });
  return all.flatMap((entry) =>
    entry.isFile() && /^[0-9a-f]{8}-|tmp/.test(entry.name) ? [join(entry.parentPath, entry.name)] : [],
  );
}

/** Files are deleted after the response: waits up to 2 s until `count` remain. */
async function settled(s: StorageUnderTest, count: number): Promise<string[]> {
  for (let i = 0; i < 40 && files(s).length !== count; i++) await pause(50);
  return files(s);
}

describeStorage(
  'Bad input: uploads',
  (s) => {
    const upload = (iri: string, steps: readonly Step[], fields: Record<string, string>, token = s.token) => {
      const authorization = token ? { Authorization: `Bearer ${token}` } : {};
      return exchange(iri, [head(iri, 'PUT', { ...authorization, ...fields }), ...steps], 4000);
    };
    const expectGone = async (iri: string, before: string[]): Promise<void> => {
      const left = await settled(s, before.length);
      await s.expectAbsent(iri);
      expect(left.filter((file) => !before.includes(file))).to.deep.equal([]);
    };
    const types = ['application/octet-stream', 'text/turtle', 'application/json'];

    for (const type of types) {
      it(`Bad input, uploads: an aborted ${type} upload stores nothing`, async () => {
        const [iri, before] = [s.fresh(), files(s)];
        const fields = { 'Content-Type': type, 'Content-Length': '1000' };
        expect(await upload(iri, ['# part', 30, 'abort'], fields)).to.equal(undefined);
        await expectGone(iri, before);
      });

      it(`Bad input, uploads: an aborted chunked ${type} upload stores nothing`, async () => {
        const [iri, before] = [s.fresh(), files(s)];
        const fields = { 'Content-Type': type, 'Transfer-Encoding': 'chunked' };
        await upload(iri, ['3\r\n# p\r\n', 30, 'abort'], fields);
        await expectGone(iri, before);
      });
    }

    it('Bad input, uploads: one that stalls is 408 and stores nothing', async () => {
      const before = files(s);
      const stalled = types.map(async (type) => {
        const iri = s.fresh();
        expectProblem(await upload(iri, ['# part'], { 'Content-Type': type, 'Content-Length': '1000' }), 408, s);
        await expectGone(iri, before);
      });
      await Promise.all(stalled);
    });

    it('Bad input, uploads: an aborted replacement leaves the old state', async () => {
      const { iri, etag } = await s.stored('text/plain', 'old');
      await upload(iri, ['new', 30, 'abort'], { 'Content-Length': '1000', 'If-Match': etag });
      await pause(50);
      expect([(await s.get(iri)).text, await s.tag(iri)]).to.deep.equal(['old', etag]);
    });

    it('Bad input, uploads: a malformed chunk after a valid one is rejected and stores nothing', async () => {
      const [iri, before] = [s.fresh(), files(s)];
      const answer = await upload(iri, ['3\r\nabc\r\n', 60, 'zz\r\n'], { 'Transfer-Encoding': 'chunked' });
      expectUnparsed(answer, 400);
      await expectGone(iri, before);
    });

    it('Bad input, uploads: a slow upload that progresses is stored', async () => {
      const iri = s.fresh();
      const steps = ['ab', 'c', 'd', 'e'].flatMap((text) => [text, 350]);
      expect((await upload(iri, steps, { 'Content-Length': '5' }))?.status).to.equal(201);
      expect((await s.get(iri)).text).to.equal('abcde');
    });

    it('Bad input, uploads: a slow upload does not block other clients', async () => {
      const container = await s.container();
      const slow = upload(`${container}slow`, ['a', 500, 'b'], { 'Content-Length': '2' });
      await pause(50);
      const started = performance.now();
      await s.stored('text/plain', 'x', `${container}quick`);
      expect(performance.now() - started).to.be.below(400 * slowness);
      expect((await slow)?.status).to.equal(201);
      expect(await s.members(container)).to.deep.equal([`${container}quick`, `${container}slow`]);
    });

    it('Bad input, uploads: an upload that is rejected after its body was stored leaves no file', async () => {
      const before = files(s);
      const body = Buffer.alloc(300_000, 'x');
      const iri = s.fresh();
      expectProblem(await s.put(iri, 'image/png', body, { 'Content-Digest': 'sha-256=:AAAA:' }), 400, s);
      expectProblem(await s.put(`${s.fresh('/')}x`, 'image/png', body), 404, s);
      await expectGone(iri, before);
    });

    it('Bad input, uploads: a replaced and a deleted resource leave no file', async function () {
      if (!s.server) return this.skip();
      const before = files(s);
      const { iri } = await s.stored('image/png', 'x'.repeat(1000));
      expect(await settled(s, before.length + 1)).to.have.length(before.length + 1);
      await s.put(iri, 'image/png', 'y', { 'If-Match': '*' });
      expect(await settled(s, before.length + 1)).to.have.length(before.length + 1);
      await s.delete(iri);
      expect(await settled(s, before.length)).to.have.members(before);
    });

    it('RFC 9110 10.1.1: an owner who sends Expect: 100-continue receives 100', async () => {
      const iri = s.fresh();
      const answer = await upload(iri, [200, 'abc'], { 'Content-Length': '3', Expect: '100-continue' });
      expect([answer?.status, answer?.interim]).to.deep.equal([201, [100]]);
    });

    for (const [who, status] of [
      ['anonymous', 401],
      ['stranger', 404],
    ] as const)
      it(`${who} is rejected before the body: ${status} without 100 Continue (rule 2.6)`, async () => {
        const iri = s.fresh();
        const token = who === 'anonymous' ? '' : s.stranger.token;
        const answer = await upload(iri, [], { 'Content-Length': '1000000', Expect: '100-continue' }, token);
        expectProblem(answer, status, s);
        expect(answer!.interim).to.deep.equal([]);
      });

    it('reserved names, 428, 412 and a missing parent are rejected without 100 Continue (rule 6.9)', async () => {
      const { iri } = await s.stored('text/plain', 'x');
      const cases: readonly (readonly [number, string, Record<string, string>])[] = [
        [409, s.fresh('.acl'), {}],
        [404, `${s.fresh('/')}x`, {}],
        [428, iri, {}],
        [412, iri, { 'If-Match': '"stale"' }],
      ];
      for (const [status, target, fields] of cases) {
        const answer = await upload(target, [], { 'Content-Length': '1000000', Expect: '100-continue', ...fields });
        expectProblem(answer, status, s);
        expect(answer!.interim, String(status)).to.deep.equal([]);
      }
    });

    it('a client that sends megabytes without a credential still receives the error (rule 2.6)', async () => {
      const body = Buffer.alloc(3 << 20, 'x');
      const answers: Answer[] = [];
      for (let i = 0; i < 3; i++) answers.push(await request(s.fresh(), { method: 'PUT', body }));
      for (const answer of answers) expectChallenge(answer, s);
    });

    it('RFC 9112 9.3: after a rejected body the connection is usable or closed', async () => {
      const iri = s.fresh();
      const body = `GET ${new URL(s.root).pathname} HTTP/1.1\r\nHost: x\r\n\r\n`;
      const first = head(iri, 'PUT', { 'Content-Length': String(body.length) }) + body;
      const answer = await exchange(iri, [first]);
      expectChallenge(answer!, s);
    });
  },
  { settings: { 'request-idle-seconds': '1' } },
);
