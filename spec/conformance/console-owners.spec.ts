/** Additional owners: creation, permissions and removal (rules 2.7, 5.1). */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { startRequest } from '../support/http.js';
import { credential, ed25519Identity } from '../support/identity.js';

const asJson = { 'Content-Type': 'application/json' };

describeStorage(
  'Further owners',
  (s) => {
    const owners = (): string => `${s.root}.lws/owners`;
    const add = (id: unknown, name: unknown = 'Somebody') =>
      s.send('POST', owners(), asJson, JSON.stringify({ id, name }));

    it('have full access until they are removed, also across restarts', async () => {
      const somebody = ed25519Identity();
      const token = credential(somebody, { aud: s.root.slice(0, -1) });
      const { iri } = await s.stored('text/plain', 'x');
      const read = async () => (await s.send('GET', iri, {}, undefined, { token })).status;
      const list = async () => (await s.send('GET', s.root, {}, undefined, { token })).status;
      expect(await read()).to.equal(404);
      expect((await add(somebody.did)).status).to.equal(201);
      expect([await read(), await list()]).to.deep.equal([200, 200]);
      expect((await s.send('PUT', s.fresh(), { 'Content-Type': 'text/plain' }, 'y', { token })).status).to.equal(201);
      await s.restart({});
      expect([await read(), await list()]).to.deep.equal([200, 200]);
      const listed = JSON.parse((await s.get(owners())).text) as { owners: { id: string; name: string; by: string }[] };
      expect(listed.owners.map(({ id, name }) => [id, name])).to.deep.equal([[somebody.did, 'Somebody']]);
      const removed = await s.send('DELETE', `${owners()}?id=${encodeURIComponent(somebody.did)}`, {}, undefined, {
        token,
      });
      expect(removed.status).to.equal(204);
      expect([await read(), await list()]).to.deep.equal([404, 200]);
      expectProblem(await s.send('DELETE', `${owners()}?id=${encodeURIComponent(somebody.did)}`), 404, s);
    });

    it('are listed and added only by owners', async () => {
      for (const method of ['GET', 'POST', 'DELETE'] as const) {
        const body = method === 'POST' ? JSON.stringify({ id: ed25519Identity().did, name: 'x' }) : undefined;
        expect((await s.send(method, owners(), asJson, body, 'anonymous')).status).to.equal(401);
        expect((await s.send(method, owners(), asJson, body, s.stranger)).status).to.be.oneOf([403, 404]);
      }
    });

    it('cannot re-add themselves with a request that started before their removal (rule 2.1)', async () => {
      const somebody = ed25519Identity();
      const token = credential(somebody, { aud: s.root.slice(0, -1) });
      expect((await add(somebody.did)).status).to.equal(201);
      const body = JSON.stringify({ id: somebody.did, name: 'Again' });
      const status = new Promise<number>((resolve, reject) => {
        const headers = { ...asJson, Authorization: `Bearer ${token}`, 'Transfer-Encoding': 'chunked' };
        const held = startRequest(owners(), { method: 'POST', headers }, (answer) => {
          answer.resume();
          resolve(answer.statusCode ?? 0);
        });
        held.once('error', reject);
        held.write(body.slice(0, 5));
        setTimeout(async () => {
          await s.delete(`${owners()}?id=${encodeURIComponent(somebody.did)}`);
          held.end(body.slice(5));
        }, 100);
      });
      expect(await status).to.equal(403);
      expect((await s.send('GET', owners(), {}, undefined, { token })).status).to.be.oneOf([403, 404]);
    });

    it('receive no more events on an open stream after their removal', async () => {
      const somebody = ed25519Identity();
      const token = credential(somebody, { aud: s.root.slice(0, -1) });
      expect((await add(somebody.did)).status).to.equal(201);
      const heard: string[] = [];
      const ended = new Promise<void>((resolve, reject) => {
        const following = startRequest(
          `${s.root}.lws/events`,
          { headers: { Authorization: `Bearer ${token}` } },
          (answer) => {
            answer.on('data', (chunk) => heard.push(String(chunk)));
            answer.once('end', resolve);
            void (async () => {
              await s.stored('text/plain', 'x', `${s.scratch}before`);
              await s.delete(`${owners()}?id=${encodeURIComponent(somebody.did)}`);
              await s.stored('text/plain', 'x', `${s.scratch}after`);
            })().catch(reject);
          },
        );
        following.once('error', reject);
        following.end();
      });
      await ended;
      expect(heard.join('')).to.contain(`${s.scratch}before`);
      expect(heard.join('')).not.to.contain(`${s.scratch}after`);
    });

    it('have a URI and a name', async () => {
      for (const id of ['', 'somebody', 5, null, `did:key:${'z'.repeat(3000)}`]) expectProblem(await add(id), 400, s);
      for (const name of ['', ' ', 5, 'x'.repeat(201)]) expectProblem(await add('did:key:z6Mk', name), 400, s);
    });

    it('are limited to 100', async () => {
      for (let i = 0; i < 100; i++) expect((await add(`https://people.example/${i}`)).status).to.equal(201);
      expectProblem(await add('https://people.example/more'), 409, s);
      expect((await add('https://people.example/7', 'Renamed')).status).to.equal(201);
    });
  },
  { settings: {} },
);

describeStorage(
  'Additional owners with Web Access Control',
  (s) => {
    it('are listed in access control lists', async () => {
      expectProblem(await s.get(`${s.root}.lws/owners`), 404, s);
    });
  },
  { settings: { 'access-control': 'wac' } },
);
