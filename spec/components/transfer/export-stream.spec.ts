/** An export while the storage changes, and while nobody reads it. */
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type ExportRequest, exportStream } from '../../../components/transfer/export-stream.js';
import type { Question } from '../../../lib/authorization/authorizer.js';
import { describeStorage, type StorageUnderTest } from '../../support/conformance.js';

/** Begins an export for somebody for whom each resource has to be decided. @returns its text, or why it failed */
async function exported(
  s: StorageUnderTest,
  asked: Partial<ExportRequest>,
  allows: (question: Question) => Promise<boolean>,
): Promise<{ readonly text: Promise<string>; readonly ended: Promise<void> }> {
  const { store } = s.server!.server;
  const authorizer = { readScope: () => 'decide', allows };
  const platform = { authorizer, store, rootIri: s.root, dataDir: s.server!.dataDir, log: { error: () => {} } };
  const request = { of: s.scratch, format: 'nquads', isGzip: false, access: {}, isOperator: false, ...asked };
  let onEnd: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const stream = await exportStream(platform as never, request, onEnd);
  const text = async (): Promise<string> => {
    let all = '';
    for await (const chunk of stream) all += String(chunk);
    return all;
  };
  // Reading it begins at once, or never.
  if (asked.idleMs === undefined) return { text: text(), ended };
  stream.read(1);
  return { text: new Promise((resolve) => stream.once('error', ({ message }) => resolve(message))), ended };
}

describeStorage(
  'An export',
  (s) => {
    it('has nothing that was deleted or replaced before it was decided whether it may be read', async () => {
      for (const name of ['kept', 'deleted', 'replaced'])
        await s.put(s.scratch + name, 'text/turtle', `<urn:s> <urn:p> "old ${name}" .`);
      const { text, ended } = await exported(s, {}, async ({ iri }) => {
        // Now everybody may read what has these names.
        if (iri.endsWith('deleted')) await s.delete(iri);
        if (iri.endsWith('replaced')) await s.put(iri, 'text/turtle', '', { 'If-Match': '*' });
        return true;
      });
      expect((await text).match(/"[^"]*"/g)).to.deep.equal(['"old kept"']);
      await ended;
    });

    it('ends when nobody takes anything of it', async () => {
      await s.put(s.fresh(), 'application/octet-stream', randomBytes(6 << 20));
      const { text, ended } = await exported(s, { format: 'zip', idleMs: 20 }, async () => true);
      expect(await text).to.equal('Nobody takes anything of the export.');
      await ended;
    });
  },
  { settings: {}, isOncePlaced: true },
);
