/** Exports while the storage changes, and without a reader. */
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { expect } from 'chai';
import { exportRoutes } from '../../../../components/data/transfer/export-routes.js';
import { type ExportRequest, exportStream } from '../../../../components/data/transfer/export-stream.js';
import type { Question } from '../../../../lib/authorization/authorizer.js';
import type { Access } from '../../../../lib/authorization/principal.js';
import type { Exchange } from '../../../../lib/http/exchange.js';
import type { Reply } from '../../../../lib/http/reply.js';
import { requestLogger } from '../../../../lib/http/request-log.js';
import { Traffic } from '../../../../lib/http/traffic.js';
import { LwsError } from '../../../../lib/tools/errors.js';
import { describeStorage, type StorageUnderTest } from '../../../support/conformance.js';
import { formatModules } from '../../../support/formats.js';

/** Starts an export with an access decision for each resource. @returns its text, or the error message */
async function exported(
  s: StorageUnderTest,
  asked: Partial<ExportRequest>,
  allows: (question: Question) => Promise<boolean>,
): Promise<{ readonly text: Promise<string>; readonly ended: Promise<void> }> {
  const { store } = s.server!.server;
  const authorizer = { readScope: () => 'decide', allows, finds: allows };
  const platform = {
    authorizer,
    store,
    rootIri: s.root,
    dataDir: s.server!.dataDir,
    formats: formatModules,
    log: { error: () => {} },
  };
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
  // The stream is read immediately or never.
  if (asked.idleMs === undefined) return { text: text(), ended };
  stream.read(1);
  return { text: new Promise((resolve) => stream.once('error', ({ message }) => resolve(message))), ended };
}

/** Returns a function that starts an export over HTTP for a subject at an address. */
function asked(s: StorageUnderTest, maxMs?: number) {
  const { store } = s.server!.server;
  const standings: Readonly<Record<string, string>> = { o: 'controller', a: 'known', b: 'known' };
  const authorizer = {
    readScope: () => 'everything',
    allows: async () => true,
    callerClass: async (_: unknown, { principal }: Access) => standings[principal!.subject] ?? 'stranger',
  };
  const platform = {
    authorizer,
    store,
    rootIri: s.root,
    dataDir: s.server!.dataDir,
    formats: formatModules,
    log: { error: () => {} },
  };
  const [route] = exportRoutes(platform as never, maxMs);
  return async (subject: string, address: string): Promise<Readable> => {
    const query = new URLSearchParams({ of: s.scratch, format: 'zip' });
    const { body } = (await route!.handle({ query, access: { principal: { subject } }, address } as never)) as Reply;
    return body as Readable;
  };
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    ({ code }: LwsError) => code,
  );

describeStorage(
  'Export over HTTP',
  (s) => {
    it('has slots by subject, and a few common slots for unknown callers, limited by address', async () => {
      await s.put(s.fresh(), 'application/octet-stream', randomBytes(6 << 20));
      const ask = asked(s);
      const held = [await ask('a', '10.0.0.1'), await ask('b', '10.0.0.1'), await ask('o', '10.0.0.1')];
      expect(await codeOf(ask('a', '10.0.0.2'))).to.equal('too-busy');
      held.push(await ask('x', '10.0.0.1'));
      // Unknown callers are limited by address, not by subject.
      expect(await codeOf(ask('y', '10.0.0.1'))).to.equal('too-busy');
      held.push(await ask('y', '10.0.0.2'));
      expect(await codeOf(ask('z', '10.0.0.3'))).to.equal('too-busy');
      held.push(await ask('o', '10.0.0.1'));
      for (const stream of held) stream.destroy();
    });

    it('releases its slot after the last byte is read', async () => {
      await s.put(s.fresh(), 'text/turtle', '');
      const ask = asked(s);
      for (let count = 0; count < 5; count++) {
        const stream = await ask('a', '10.0.0.1');
        for await (const _ of stream);
      }
    });

    it('returns 503 if the first byte takes too long', async () => {
      expect(await codeOf(asked(s, 0)('x', '10.0.0.1'))).to.equal('too-busy');
    });

    it('is logged as 503 without a stack if it is aborted because of a slow reader', async () => {
      const lines: Record<string, unknown>[] = [];
      const log = { info: (line: object) => lines.push({ ...line }), error: () => lines.push({ stack: true }) };
      const step = requestLogger({ log, behindProxy: false, onAnswered: [] } as never, new Traffic());
      const ctx = {
        req: { url: '/x', headers: {}, socket: {} },
        originalUrl: '/x',
        state: {} as { exchange: Exchange },
      };
      await step(ctx as never, async () => {
        ctx.state.exchange.reply = { status: 200, fields: {} };
        ctx.state.exchange.failure = new LwsError('too-busy', 'slow');
      });
      expect(lines).to.have.length(1);
      expect(lines[0]).to.include({ status: 503, code: 'too-busy' });
    });
  },
  { settings: {}, isOncePlaced: true },
);

describeStorage(
  'Export',
  (s) => {
    it('contains nothing that was deleted or replaced before the access decision', async () => {
      for (const name of ['kept', 'deleted', 'replaced'])
        await s.put(s.scratch + name, 'text/turtle', `<urn:s> <urn:p> "old ${name}" .`);
      const { text, ended } = await exported(s, {}, async ({ iri }) => {
        // The names are readable, but their previous content must not be exported.
        if (iri.endsWith('deleted')) await s.delete(iri);
        if (iri.endsWith('replaced')) await s.put(iri, 'text/turtle', '', { 'If-Match': '*' });
        return true;
      });
      expect((await text).match(/"[^"]*"/g)).to.deep.equal(['"old kept"']);
      await ended;
    });

    it('is aborted if the client does not read', async () => {
      await s.put(s.fresh(), 'application/octet-stream', randomBytes(6 << 20));
      const { text, ended } = await exported(s, { format: 'zip', idleMs: 20 }, async () => true);
      expect(await text).to.equal('The client does not read the export, or reads less than 32 KiB/s.');
      await ended;
    });
  },
  { settings: {}, isOncePlaced: true },
);
