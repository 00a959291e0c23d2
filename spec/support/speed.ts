/** The two speeds of the specs: `npm test` is for every change, `npm run test:all` (`QUADPOD_SPECS=all`) for what is published. */

export const isThorough = process.env['QUADPOD_SPECS'] === 'all';

/** How often a property is tried. @param all the number of `npm run test:all`; a quick run makes a twentieth of it, and at least five */
export const runs = (all: number): number => (isThorough ? all : Math.max(5, Math.ceil(all / 20)));

/** How many of the tries of `npm run test:all` have to be of some kind; a quick run only has to see that there are any. */
export const enough = (all: number): number => (isThorough ? all : 0);
