/** All quads of the store through quadstore's class: every pattern, no open iterators, all errors reported, also in the unmodified package. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Quad } from '@rdfjs/types';
import { expect } from 'chai';
import { Parser } from 'n3';
import { QuadReader } from '../../../../lib/storage/transactions/quad-reader.js';
import { addFormerIndexes, formerState, quadstoreOf } from '../../../support/former-indexes.js';
import { runProcess, startProcess } from '../../../support/process.js';
import { f, n, show, testSource } from './quad-source.js';

describe('storage/quad-reader', () => {
  const { quads, found, level } = testSource({
    method: 'iterator',
    entry: ['M\u0000spec', ''],
    sourceOf: (of) => new QuadReader(of),
  });

  it('counts quads, not bytes', async () => {
    expect(await new QuadReader(level()).countQuads(undefined, undefined, undefined, n('g1') as never)).to.equal(20);
  });

  it('writes nothing', async () => {
    const reader = new QuadReader(level());
    const quad = quads[0] as never;
    for (const write of [() => reader.clear(), () => reader.put(quad), () => reader.multiDel([quad])]) {
      const error = await write().then(
        () => undefined,
        (refusal: Error) => refusal,
      );
      expect(error?.message).to.include('transactions');
    }
    expect(await found()).to.have.length(quads.length);
  });

  it('after a stop: the unmodified package opens the directory as in quadstore.json, and finds the same quads, also if it had four indexes', async () => {
    const server = await startProcess();
    const body =
      '<> a <#T> ; <#n> 1, 2.5, "x"@en, "2026-01-01T00:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .';
    const answer = await fetch(`${server.root}r`, { method: 'PUT', headers: { 'Content-Type': 'text/turtle' }, body });
    expect(answer.status).to.equal(201);
    expect(await server.stop()).to.equal(0);
    const written = new Parser({ baseIRI: `${server.root}r` }).parse(body);
    const plain = (quad: Quad): string => show(f.quad(quad.subject, quad.predicate, quad.object, f.defaultGraph()));
    for (const hasFormer of [false, true]) {
      if (hasFormer) await addFormerIndexes(server.dataDir);
      expect((await runProcess(['check'], server)).stdout).to.include('all in order');
      expect(await formerState(server.dataDir)).to.deep.equal({ keys: 0, record: 'one' });
      const { indexes } = JSON.parse(readFileSync(join(server.dataDir, 'quadstore.json'), 'utf8')) as { indexes: [] };
      const store = await quadstoreOf(server.dataDir, indexes);
      const { items } = await store.get({ graph: f.namedNode(`${server.root}r`) as never });
      await store.close();
      expect((items as never as Quad[]).map(plain).sort()).to.deep.equal(
        (written as never as Quad[]).map(plain).sort(),
      );
    }
    rmSync(server.dataDir, { recursive: true });
  }).timeout(30_000);
});
