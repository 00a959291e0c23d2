/**
 * Seed of all property specs, so that they fail or pass alike on every machine. `QUADPOD_SEED=random` searches for new
 * counterexamples. `QUADPOD_SEED=<number>` repeats a run.
 */
import fc from 'fast-check';
import { runs } from './speed.js';

const { QUADPOD_SEED: wanted = '20261121' } = process.env;

fc.configureGlobal({
  ...fc.readConfigureGlobal(),
  numRuns: runs(100),
  ...(wanted === 'random' ? {} : { seed: Number(wanted) }),
});
