/** Borders and names of countries (Natural Earth, by `build.mjs`). Loaded on demand. */

declare const bordersPath: string;
declare const countryNames: readonly CountryName[];

/** Name, middle of the largest area in degrees, and its width in degrees. */
export type CountryName = readonly [name: string, longitude: number, latitude: number, width: number];

/** Path in the units of the land. */
export const borders: string = bordersPath;
export const countries: readonly CountryName[] = countryNames;
