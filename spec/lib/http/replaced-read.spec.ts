/** A GET of a resource that is replaced again and again while its bytes are located. */
import type { IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { read } from '../../../lib/http/resource-routes.js';

type Reading = Parameters<typeof read>[0];

describe('A read of a resource that is replaced meanwhile', () => {
  const iri = 'http://localhost/r';
  /** @param existing number of states after which the resource is deleted */
  function exchange(existing: number): { exchange: Reading; reads: () => number } {
    let [states, reads] = [0, 0];
    const record = () =>
      states < existing
        ? {
            iri,
            kind: 'binary',
            mediaType: 'text/plain',
            size: 4,
            revision: `r${states}`,
            blob: `b${states}`,
            modified: 0,
          }
        : undefined;
    const blobs = {
      bytes: async () => {
        states++;
        reads++;
        throw Object.assign(new Error('missing'), { code: 'ENOENT' });
      },
    };
    const storage = {
      ...{
        rootIri: 'http://localhost/',
        systemPrefix: '/.lws',
        mask: true,
        store: { record, blobs, coordination: { freshen: async () => {} } },
      },
      representations: {
        obtain: (_name: unknown, _type: unknown, ...rest: unknown[]) => (rest.at(-1) as () => unknown)(),
      },
      authorizer: { decide: () => ({ allowed: true }), allows: async () => true },
    };
    const req = { method: 'GET', headers: {} } as IncomingMessage;
    const parts = {
      storage,
      req,
      access: { principal: { subject: 'urn:a' } },
      target: { iri, query: undefined },
      description: undefined,
    };
    return { exchange: parts as unknown as Reading, reads: () => reads };
  }
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: { code: string; fields: Record<string, string> }) => error,
    );

  it('is 503 with Retry-After while it exists (RFC 9110 15.6.4)', async () => {
    const { exchange: asked, reads } = exchange(1_000);
    const error = await failure(read(asked));
    expect([error?.code, error?.fields['Retry-After']]).to.deep.equal(['too-busy', '1']);
    expect(reads()).to.equal(5);
  });

  it('is 404 after it was deleted (rule 4.3)', async () => {
    expect((await failure(read(exchange(3).exchange)))?.code).to.equal('not-found');
  });
});
