/** Rule 16.2: invalid subscriptions, authorization, and the setting that disables them. */
import { expect } from 'chai';
import { describeStorage } from '../support/conformance.js';
import { expectChallenge, expectProblem, listOf } from '../support/expectations.js';
import { startInboxHost } from '../support/inbox.js';
import { visible } from '../support/masking.js';
import { lwsContext, lwsJson } from '../support/search.js';
import { ask, cancel, subscribe, subscriptionsOf } from '../support/subscriptions.js';
import { agent, alice, as, bob, inWac, rule, setAcl } from '../support/wac.js';

const host = await startInboxHost();
after(() => host.close());
const settings = { 'webhook.allowed-hosts': host.authority };

describeStorage(
  'Rejected subscriptions',
  (s) => {
    const inbox = host.inbox();
    const refused = async (changes: Readonly<Record<string, unknown>>, status = 400): Promise<void> => {
      const answer = await ask(s, s.scratch, inbox, undefined, changes);
      expect(answer.status, `${JSON.stringify(changes)}: ${answer.text}`).to.equal(status);
      expectProblem(answer, status, s);
    };

    it('a past, unreadable or non-Gregorian expires is 400 (rule 16.2)', async () => {
      for (const expires of [
        '2020-01-01T00:00:00Z',
        new Date(Date.now() - 1000).toISOString(),
        '',
        'tomorrow',
        'Tue, 01 Jan 2097 00:00:00 GMT',
        '2097-02-30T00:00:00Z',
        '2097-13-01T00:00:00Z',
        '2097-01-01T25:00:00Z',
        '2097-01-01T00:00:00+25:00',
        '2097-01-01T00:00:00[Asia/Tokyo][u-ca=japanese]',
        '2097-01-01T00:00:00Z[u-ca=hebrew]',
        '２０９７-01-01T00:00:00Z',
        '令和79年1月1日',
        '1515-08-01 AH',
        'P30D',
        '2097-W01-1',
        4_000_000_000,
        { '@value': '2097-01-01T00:00:00Z' },
        ['2097-01-01T00:00:00Z', '2098-01-01T00:00:00Z'],
        true,
      ])
        await refused({ expires });
    });

    it('an unknown or missing type is 400 (rule 16.2)', async () => {
      for (const type of [
        undefined,
        'WebSocketSubscription',
        [],
        ['WebhookSubscription', 'Other'].slice(1),
        7,
        null,
        { id: 'x' },
      ])
        await refused({ type });
    });

    it('an invalid inbox is 400: missing, relative, another scheme, credentials, a fragment (rule 16.2)', async () => {
      for (const bad of [
        undefined,
        null,
        7,
        '',
        '/inbox',
        'inbox',
        'ftp://inbox.example/',
        'file:///etc/passwd',
        'javascript:alert(1)',
        'mailto:a@b.example',
        'http://',
        'https://:443/',
        inbox.replace('http://', 'http://user:secret@'),
        inbox.replace('http://', 'http://user@'),
        `${inbox}\u0000`,
        [inbox, host.inbox()],
        { id: inbox },
      ])
        await refused({ inbox: bad });
    });

    it('an inbox at a non-public address is 400 in every notation (rule 16.2)', async () => {
      for (const address of [
        '127.0.0.1:9',
        'localhost:9',
        '[::1]:9',
        '10.0.0.1',
        '192.168.1.1',
        '172.16.0.1',
        '169.254.169.254',
        '100.64.0.1',
        '0.0.0.0',
        '224.0.0.1',
        '[::]',
        '[fe80::1]',
        '[fd00::1]',
        '[::ffff:127.0.0.1]',
        '[64:ff9b::7f00:1]',
        '[2002:7f00:1::]',
        '2130706433',
        '0x7f.1',
        '127.1',
      ])
        for (const scheme of ['http', 'https']) await refused({ inbox: `${scheme}://${address}/inbox` });
    });

    it('topics that are not IRIs are 400 (rule 16.2)', async () => {
      for (const topic of [undefined, null, 7, '', 'relative', {}, [7], [null], [[s.scratch]], [s.scratch, '']])
        await refused({ topic });
    });

    it('a topic that does not exist or belongs to another storage is 404 (rule 16.2)', async () => {
      for (const topic of [
        `${s.scratch}absent`,
        `${s.scratch}absent/`,
        'https://another.example/',
        `${new URL(s.root).origin.replace('localhost', '127.0.0.1')}/`,
        [s.scratch, `${s.scratch}absent`],
        s.scratch.slice(0, -1),
        subscriptionsOf(s),
        `${s.root}.lws/storage-description`,
        `${s.scratch}.acl`,
      ])
        await refused({ topic }, 404);
    });

    it('a body that is not a JSON object is 400, with another type 415 (rule 16.2)', async () => {
      for (const body of ['', '{', '[]', 'null', '"x"', '7', '{}', `{"@context":"${lwsContext}"`])
        expectProblem(await s.post(subscriptionsOf(s), lwsJson, body), 400, s);
      const good = JSON.stringify({ '@context': lwsContext, type: 'WebhookSubscription', topic: [s.scratch], inbox });
      for (const type of [
        'text/turtle',
        'text/plain',
        'application/x-www-form-urlencoded',
        'application/merge-patch+json',
      ])
        expectProblem(await s.post(subscriptionsOf(s), type, good), 415, s);
      expectProblem(await s.send('POST', subscriptionsOf(s), {}, good), [400, 415], s);
    });

    it('other methods are 405 with Allow (rule 16.2)', async () => {
      const { id } = await subscribe(s, s.scratch, inbox);
      for (const method of ['PUT', 'PATCH', 'DELETE']) {
        const answer = await s.send(method, subscriptionsOf(s), { 'Content-Type': lwsJson }, '{}');
        expectProblem(answer, method === 'PUT' || method === 'POST' ? [405, 409] : 405, s);
        if (answer.status === 405) expect(listOf(answer, 'allow')).to.include.members(['get', 'post']);
      }
      // PUT and POST reject reserved names below the system prefix first.
      for (const method of ['PUT', 'PATCH', 'POST']) {
        const answer = await s.send(method, id, { 'Content-Type': lwsJson }, '{}');
        expectProblem(answer, method === 'PUT' || method === 'POST' ? [405, 409] : 405, s);
        if (answer.status === 405) expect(listOf(answer, 'allow')).to.include.members(['get', 'delete']);
      }
      await cancel(s, id);
    });

    it('anonymous callers get 401; an unreadable topic gets the response of a nonexistent one (rules 4.2, 16.1)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      expectChallenge(await ask(s, s.scratch, inbox, 'anonymous'), s);
      expectChallenge(await ask(s, `${iri}absent`, inbox, 'anonymous'), s);
      expectProblem(await ask(s, iri, inbox, as(s, alice)), 404, s);
      const see = async (topic: string) => visible(await ask(s, topic, inbox, as(s, alice)), topic);
      expect(await see(iri)).to.deep.equal(await see(`${iri}absent`));
      await setAcl(s, iri, rule('Append', agent(alice)));
      expect((await ask(s, iri, inbox, as(s, alice))).status, 'append without read').to.be.oneOf([403, 404]);
    });

    it('one unreadable topic rejects the whole subscription (rule 16.1)', async () => {
      const [open, hidden] = [(await s.stored('text/turtle', '')).iri, (await s.stored('text/turtle', '')).iri];
      await setAcl(s, open, rule('Read', agent(alice)));
      expectProblem(await ask(s, [open, hidden], inbox, as(s, alice)), 404, s);
      expect(
        JSON.parse((await s.send('GET', subscriptionsOf(s), {}, undefined, as(s, alice))).text).items,
      ).to.deep.equal([]);
    });

    it('above 100 subscriptions of a subscriber it is 429; other subscribers are not affected (rule 16.2)', async () => {
      const { iri } = await s.stored('text/turtle', '');
      await setAcl(s, iri, rule('Read', agent(alice, bob)));
      const made: string[] = [];
      for (let i = 0; i < 100; i++) made.push((await subscribe(s, iri, inbox, as(s, bob))).id);
      expectProblem(await ask(s, iri, inbox, as(s, bob)), 429, s);
      await subscribe(s, iri, inbox, as(s, alice));
      await cancel(s, made[0]!, as(s, bob));
      const many = await Promise.all(Array.from({ length: 5 }, () => ask(s, iri, inbox, as(s, bob))));
      expect(many.map(({ status }) => status).sort()).to.deep.equal([201, 429, 429, 429, 429]);
    });
  },
  inWac(settings),
);

describeStorage(
  'Rejected subscriptions, without masking',
  (s) => {
    it('with lws.mask-forbidden-as-not-found=false an unreadable topic is 403, a nonexistent one 404 (rule 4.2)', async () => {
      const inbox = host.inbox();
      const { iri } = await s.stored('text/turtle', '');
      expectProblem(await ask(s, iri, inbox, as(s, alice)), 403, s);
      expectProblem(await ask(s, `${iri}absent`, inbox), 404, s);
    });
  },
  inWac({ ...settings, 'mask-forbidden-as-not-found': 'false' }),
);
