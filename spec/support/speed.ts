/** Two sizes of a run: `npm test` for every change, `npm run test:all` (`QUADPOD_SPECS=all`) before a release. */

export const isThorough = process.env['QUADPOD_SPECS'] === 'all';

/** Share of the property runs. `QUADPOD_RUNS=2` doubles it, 4 runs all. */
const share = (isThorough ? 1 / 4 : 1 / 20) * Number(process.env['QUADPOD_RUNS'] ?? 1);

/** Returns the number of runs of a property: a quarter of `all` in a full run, a twentieth in a quick one, and at least five. */
export const runs = (all: number): number => Math.max(Math.min(5, all), Math.ceil(all * share));

/** Returns the minimum number of runs that must be of some kind. A quick run has no minimum. */
export const enough = (all: number): number => (isThorough ? Math.floor(all * Math.min(1, share)) : 0);
