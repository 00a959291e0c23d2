/** Borders and names of countries (Natural Earth) and names of cities (GeoNames), by `build.mjs`. Loaded on demand. */

declare const bordersPath: string;
/** Names of countries and cities, as JSON. */
declare const countryNames: string;
declare const cityNames: string;

/** Name, middle of the largest area in degrees, and its width in degrees. */
export type CountryName = readonly [name: string, longitude: number, latitude: number, width: number];

export type CityName = readonly [name: string, longitude: number, latitude: number];

/** Units of the path per degree. */
export const borderUnits = 50;
export const borders: string = bordersPath;
export const countries: readonly CountryName[] = JSON.parse(countryNames);
/** Cities, most populous first. */
export const cities: readonly CityName[] = JSON.parse(cityNames);
