/**
 * Simulation of a storage with faults of its disks (rule 6.22). `QUADPOD_STEPS=1000000` runs more steps, and `QUADPOD_SIMULATION=SEED`
 * repeats a run that failed.
 */
import { expect } from 'chai';
import { type Outcome, simulate } from './simulation.js';

const { QUADPOD_STEPS: wanted = '10000', QUADPOD_SIMULATION: repeated } = process.env;
/** Steps of a storage. */
const steps = 1_000;
const seeds =
  repeated === undefined
    ? Array.from({ length: Math.ceil(Number(wanted) / steps) }, (_, at) => 1 + at)
    : [Number(repeated)];

describe('Simulation of a storage', function () {
  this.timeout(Math.max(60_000, Number(wanted) * 50));

  it(`holds for ${wanted} steps with cuts, rejected batches, a full disk and harmed files (rule 6.22)`, async () => {
    const sums: Record<string, number> = {};
    for (const seed of seeds) {
      const { fault, counts } = await simulate({ seed, steps });
      if (fault !== undefined) expect.fail(fault);
      for (const [event, count] of Object.entries(counts)) sums[event] = (sums[event] ?? 0) + count;
    }
    const wantedEvents = 'operation,refused operation,commit in doubt,recovery,settled operation,killed,cut';
    if (repeated === undefined) for (const event of wantedEvents.split(',')) expect(sums[event], event).to.be.above(20);
  });

  it('repeats a run from its seed', async () => {
    const run = (): Promise<Outcome> => simulate({ seed: seeds[0]!, steps: 200 });
    expect(await run()).to.deep.equal(await run());
  });

  for (const [how, of] of [
    ['return', 'quads'],
    ['return', 'lists'],
    ['damage', 'records'],
    ['damage', 'lists'],
  ] as const)
    it(`finds some of the ${of} that LevelDB harms (${how})`, async () => {
      const outcomes: Outcome[] = [];
      for (const seed of seeds.slice(0, 3)) outcomes.push(await simulate({ seed, steps, harm: { how, of } }));
      expect(outcomes.some(({ counts }) => counts['harmed entry']! > 0)).to.equal(true);
      expect(outcomes.some(({ fault }) => fault !== undefined)).to.equal(true);
    });

  it('shows readers none of the triples that LevelDB returns (rule 10.11)', async () => {
    const [harm, withDigests] = [{ how: 'return', of: 'quads' } as const, true];
    let harmed = 0;
    for (const seed of seeds) {
      const { fault, counts } = await simulate({ seed, steps, harm, withDigests });
      if (fault !== undefined) expect.fail(fault);
      harmed += counts['harmed entry'] ?? 0;
    }
    expect(harmed).to.be.above(0);
  });
});
