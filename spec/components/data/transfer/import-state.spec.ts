/** Grants, access requests and subscriptions in archives: round trip, and rejection of invalid entries. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import type { Member } from '../../../../lib/exchange/member.js';
import { entryKey } from '../../../../lib/storage/keys/records.js';
import { describeStorage } from '../../../support/conformance.js';
import { openReader } from '../../../support/formats.js';
import { file, grant, policy, revoke } from '../../../support/grants.js';
import { archiveOf, imported, requestExport } from '../../../support/imports.js';
import { readAll } from '../../../support/members.js';
import { cancel, readSubscription, subscribe } from '../../../support/subscriptions.js';
import { bob } from '../../../support/wac.js';

const zip = 'application/zip';
const inbox = 'http://127.0.0.1:9/inbox';

describeStorage(
  'Component state in archives',
  (s) => {
    const replaced = () => ({ query: { into: s.root, 'on-conflict': 'replace', grants: 'yes' }, type: zip });

    it('is restored unchanged', async () => {
      const { id, topic } = await subscribe(s, s.scratch, inbox);
      const documents = [await grant(s, policy(bob, 'read', s.scratch)), await file(s, policy(bob, 'read', s.scratch))];
      const { bytes } = await requestExport(s, '?format=archive');
      await cancel(s, id);
      for (const document of documents) await revoke(s, document);
      const told = await imported(s, bytes, replaced());
      expect(told, JSON.stringify(told)).to.include({ status: 'done', leftOut: 0 });
      expect((await readSubscription(s, id)).topic).to.deep.equal(topic);
      for (const document of documents) expect((await s.get(document)).status).to.equal(200);
    });

    it('is in the archive of a container only if it concerns nothing else (rule 17.9)', async () => {
      const [part, other] = [await s.container(), await s.container()];
      const topics = [part, other].map((topic) => subscribe(s, topic, inbox));
      const [{ id: inside }, { id: outside }] = [await topics[0]!, await topics[1]!];
      const targets = [[part], [other], [part, other], [s.root], [`${part}x`]];
      const grants: string[] = [];
      for (const values of targets) grants.push(await grant(s, policy(bob, 'read', values)));
      const requests = [await file(s, policy(bob, 'read', part)), await file(s, policy(bob, 'read', other))];
      const { bytes } = await requestExport(s, `?format=archive&of=${part}`);
      const path = join(mkdtempSync(join(tmpdir(), 'quadpod-spec-')), 'a.zip');
      writeFileSync(path, bytes);
      const reader = await openReader({ path }, 'archive');
      const { members } = await readAll(reader, { into: part });
      await reader.close();
      rmSync(dirname(path), { recursive: true });
      const kept = members.flatMap((member) => (member.kind === 'state' ? [member.key.split('\u0000').at(-1)] : []));
      const nameOf = (iri: string): string => iri.split('/').at(-1)!;
      expect(kept).to.have.members([grants[0]!, grants[4]!, requests[0]!, inside].map(nameOf));
      for (const document of [...grants, ...requests]) await revoke(s, document);
      for (const id of [inside, outside]) await cancel(s, id);
    });

    it('is left out if it is invalid, and the server continues', async () => {
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
