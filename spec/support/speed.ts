/** The two speeds of the specs: `npm test` is for every change, `npm run test:all` (`QUADPOD_SPECS=all`) for what is published. */

export const isThorough = process.env['QUADPOD_SPECS'] === 'all';

/** Part of the tries of properties that a run makes; `QUADPOD_RUNS=2` makes twice as many. */
const share = (isThorough ? 1 / 2 : 1 / 20) * Number(process.env['QUADPOD_RUNS'] ?? 1);

/** How often a property is tried: half of `all` in a whole run, a twentieth in a quick one, and at least five times. */
export const runs = (all: number): number => Math.max(Math.min(5, all), Math.ceil(all * share));

/** How many of `all` tries have to be of some kind; a quick run only has to see that there are any. */
export const enough = (all: number): number => (isThorough ? Math.floor(all * Math.min(1, share)) : 0);
