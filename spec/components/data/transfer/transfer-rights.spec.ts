/** Imports and exports of callers with partial access: they learn nothing about other resources, and do not change them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Parser } from 'n3';
import type { ContainerMember } from '../../../../lib/exchange/member.js';
import { describeStorage, type Sender } from '../../../support/conformance.js';
import { openReader } from '../../../support/formats.js';
import { archiveOf, imported, requestExport } from '../../../support/imports.js';
import { bytesMember, readAll } from '../../../support/members.js';
import {
  agent,
  alice,
  anybody,
  as,
  inWac,
  ownerRule,
  rule,
  setAcl,
  setBareAcl,
  turtleOf,
} from '../../../support/wac.js';

const zip = 'application/zip';

describeStorage(
  'Import by a caller with control of the storage, but not of all resources',
  (s) => {
    it('sets no ACL without control of the resource', async () => {
      const theirs = await s.container();
      const open = turtleOf(rule('Read Write Control', anybody));
      const list = (iri: string) => ({ quads: new Parser({ baseIRI: iri }).parse(open) as never, prefixes: {} });
      const item = (path: string) => ({ ...bytesMember(path, 'text/plain', 'x'), acl: list(theirs + path) });
      await s.put(`${theirs}old`, 'text/plain', 'old');
      // Granted to everyone: a named agent would control all ACLs (rule 3.12).
      await setAcl(s, s.root, rule('Read Write Control', anybody));
      await setBareAcl(s, theirs, [ownerRule, rule('Read Write', agent(alice))]);
      const members = [item('new'), item('old'), bytesMember('plain', 'text/plain', 'x')];
      const sent = {
        query: { into: theirs, 'on-conflict': 'replace', acls: 'yes' },
        type: zip,
        sender: as(s, alice),
      };
      const told = await imported(s, await archiveOf(theirs, members), sent);
      expect(told, JSON.stringify(told)).to.include({ status: 'done', created: 1, replaced: 0, leftOut: 2 });
      expect((await s.get(`${theirs}old`)).text).to.equal('old');
      await s.expectAbsent(`${theirs}new`);
      // Without the ACL of its container, the member would be accessible to others.
      const container = { kind: 'container', path: 'c/', source: '', acl: list(`${theirs}c/`) } as const;
      const inside = bytesMember('c/inside', 'text/plain', 'x');
      const failed = await imported(s, await archiveOf(theirs, [container, inside]), sent);
      expect(failed.status).to.equal('failed');
      expect(failed.failure).to.match(/set the ACL of .*c\//);
      await s.expectAbsent(`${theirs}c/`);
    });
  },
  { ...inWac(), isOncePlaced: true },
);

describeStorage(
  'Export by a caller with partial access',
  (s) => {
    it('contains no date that depends on unreadable resources', async () => {
      const open = await s.container();
      await setBareAcl(s, open, [ownerRule, rule('Read', anybody, 'accessTo')]);
      const folder = mkdtempSync(join(tmpdir(), 'quadpod-spec-'));
      const datesOf = async (sender?: Sender): Promise<Pick<ContainerMember, 'created' | 'modified'>> => {
        const { bytes } = await requestExport(s, `?format=archive&of=${open}`, sender);
        const path = join(folder, 'archive.zip');
        writeFileSync(path, bytes);
        const reader = await openReader({ path }, 'archive');
        const { members } = await readAll(reader, { into: open });
        await reader.close();
        return members.find((member) => member.kind === 'container')!;
      };
      const { created } = await datesOf();
      await s.put(`${open}hidden`, 'text/turtle', '');
      const [theirs, ours] = [await datesOf('anonymous'), await datesOf()];
      rmSync(folder, { recursive: true });
      expect(ours.modified).to.be.above(created!);
      expect(theirs).to.include({ created, modified: created });
    });

    it('holds no slot for a name that cannot be decoded', async () => {
      const open = await s.container();
      await setAcl(s, open, rule('Read', anybody));
      for (let count = 0; count < 3; count++) {
        const answer = await requestExport(s, `?format=nquads&of=${open}%25FF/`, 'anonymous');
        expect(answer.status, answer.text).to.equal(200);
        expect(answer.headers['content-disposition']).to.equal('attachment; filename="-.nq"');
      }
    });
  },
  { ...inWac(), isOncePlaced: true },
);
