/** Grants, requests and subscriptions in archives: what comes back, and what must not come in. */
import { expect } from 'chai';
import type { Member } from '../../../components/transfer/member.js';
import { entryKey } from '../../../lib/storage/records.js';
import { describeStorage } from '../../support/conformance.js';
import { file, grant, policy, revoke } from '../../support/grants.js';
import { archiveOf, askedExport, imported } from '../../support/imports.js';
import { cancel, readSubscription, subscribe } from '../../support/subscriptions.js';
import { bob } from '../../support/wac.js';

const zip = 'application/zip';
const inbox = 'http://127.0.0.1:9/inbox';

describeStorage(
  'The state of components in an archive',
  (s) => {
    const replaced = () => ({ query: { into: s.root, 'on-conflict': 'replace' }, type: zip });

    it('comes back as it was', async () => {
      const { id, topic } = await subscribe(s, s.scratch, inbox);
      const documents = [await grant(s, policy(bob, 'read', s.scratch)), await file(s, policy(bob, 'read', s.scratch))];
      const { bytes } = await askedExport(s, '?format=archive');
      await cancel(s, id);
      for (const document of documents) await revoke(s, document);
      const told = await imported(s, bytes, replaced());
      expect(told, JSON.stringify(told)).to.include({ status: 'done', leftOut: 0 });
      expect((await readSubscription(s, id)).topic).to.deep.equal(topic);
      for (const document of documents) expect((await s.get(document)).status).to.equal(200);
    });

    it('is left out where it is none, and the server goes on', async () => {
      const good = {
        id: 'x',
        subscriber: 'urn:x',
        topics: [s.root],
        inbox,
        created: 1,
        expires: 4e12,
        active: true,
        failures: 0,
      };
      const values: [string, unknown][] = [
        ['access-grants', {}],
        ['access-grants', { document: { id: 'x', access: 1 }, creator: 'urn:x', created: 1 }],
        ['access-requests', []],
        ['subscriptions', {}],
        ['subscriptions', { ...good, topics: 1 }],
        ['subscriptions', { ...good, expires: 9e15 }],
        ['subscriptions', { ...good, id: 'y' }],
        ['subscriptions', { ...good, inbox: 'file:///etc/passwd' }],
        ['import', {}],
      ];
      const members = values.map(
        ([space, value]): Member => ({
          ...{ kind: 'state', source: '', key: entryKey(space, 'x') },
          value: JSON.stringify(value),
        }),
      );
      const told = await imported(s, await archiveOf(s.root, members), replaced());
      expect(told, JSON.stringify(told)).to.include({ status: 'done', leftOut: values.length });
      expect((await s.put(s.fresh(), 'text/turtle', '')).status).to.equal(201);
      expect(s.server!.log.filter(({ level }) => (level as number) >= 50)).to.deep.equal([]);
    });
  },
  { settings: { 'webhook.allowed-hosts': '127.0.0.1:9' }, isOncePlaced: true },
);
