/** Time limits of request bodies (rule 21.4). */
import { IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { interruptBody, requestBody } from '../../../lib/http/request.js';
import { LwsError, tooBusy } from '../../../lib/tools/errors.js';

const idleMs = 600_000;

describe('Reading a request body', () => {
  let req: IncomingMessage;
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] });
    req = new IncomingMessage(new Socket());
    req.headers['transfer-encoding'] = 'chunked';
  });
  afterEach(() => mock.timers.reset());

  const flush = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  /** Sends a byte every ten seconds. @returns the outcome of the read, if any */
  const drip = async (reading: Promise<unknown>, bytes: number): Promise<unknown> => {
    let became: unknown;
    reading.then(
      () => {
        became = 'read';
      },
      (error: LwsError) => {
        became = error.code;
      },
    );
    for (let each = 0; each < bytes; each++) {
      req.push('x');
      await flush();
      mock.timers.tick(10_000);
      await flush();
    }
    return became;
  };
  const body = (): ReturnType<typeof requestBody> =>
    requestBody(req, {} as ServerResponse, { idleMs, caller: () => expect.fail() });

  it('ends with 408 if a small one is not complete after 30 s', async () => {
    const reading = body().collect(64 << 10);
    expect(await drip(reading, 2)).to.equal(undefined);
    expect(await drip(reading, 1)).to.equal('request-timeout');
  });

  it('continues with a large one while data arrives', async () => {
    const reading = body().collect(1 << 20);
    expect(await drip(reading, 20)).to.equal(undefined);
    req.push(null);
    expect((await reading).length).to.equal(20);
  });

  for (const when of ['during it', 'before it'])
    it(`fails if it is interrupted ${when}`, async () => {
      const error = tooBusy('The server needs the place.', 5);
      if (when === 'before it') interruptBody(req, error);
      const reading = body().collect(1 << 20);
      const streaming = when === 'before it' ? body().chunks()[Symbol.asyncIterator]().next() : reading;
      interruptBody(req, error);
      for (const each of [reading, streaming])
        expect(await each.catch((thrown: unknown) => thrown)).to.be.an.instanceOf(LwsError);
    });
});
