/** Time that a client may leave a stream unread. */
import { mock } from 'node:test';
import { expect } from 'chai';
import { ReadingTime } from '../../../../lib/tools/threads/reading-time.js';

describe('ReadingTime', () => {
  let now = 0;
  let ends = 0;
  let time: ReadingTime;

  beforeEach(() => {
    [now, ends] = [0, 0];
    mock.timers.enable({ apis: ['setTimeout'] });
    mock.method(performance, 'now', () => now);
    time = new ReadingTime(60_000, () => ends++);
  });
  afterEach(() => {
    mock.restoreAll();
    mock.timers.reset();
  });

  /** The client lets the stream wait, then reads. */
  const clientWaits = (seconds: number, bytes: number): void => {
    time.wait();
    now += seconds * 1000;
    mock.timers.tick(seconds * 1000);
    time.read(bytes);
  };

  it('ends when a client reads nothing for the whole time', () => {
    time.wait();
    time.wait();
    mock.timers.tick(59_999);
    expect(ends).to.equal(0);
    mock.timers.tick(1);
    expect(ends).to.equal(1);
  });

  it('ends when a client reads a little again and again, but below 32 KiB/s on average', () => {
    let reads = 0;
    for (; ends === 0 && reads < 100; reads++) clientWaits(50, 256 << 10);
    // 256 KiB give 8 of the 50 seconds back: 10 are left after the first read, 18 before the second.
    expect(reads).to.equal(2);
  });

  it('does not end for a client that reads 32 KiB/s on average, whatever the pauses', () => {
    for (let reads = 0; reads < 100; reads++) clientWaits(50, 50 * (32 << 10));
    expect(ends).to.equal(0);
  });

  it('gives back no more than the whole time, and nothing while the stream does not wait', () => {
    time.read(1 << 30);
    now += 3_600_000;
    clientWaits(59, 0);
    expect(ends).to.equal(0);
    clientWaits(2, 0);
    expect(ends).to.equal(1);
  });

  it('does not end after stop', () => {
    time.wait();
    time.stop();
    mock.timers.tick(3_600_000);
    expect(ends).to.equal(0);
  });
});
