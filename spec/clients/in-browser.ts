/** Entry point of the browser bundle: exposes the journeys to the spec. */
import { fetchWith, type Outcome, type Setting, take } from './journey.js';
import { ldo } from './ldo-client.js';
import { rdflib } from './rdflib-client.js';
import { solidClient } from './solid-client.js';

const journeys = { 'solid-client': solidClient, rdflib, ldo };

Object.assign(globalThis, {
  travel: (
    which: keyof typeof journeys,
    places: Pick<Setting, 'root' | 'container' | 'owner'>,
    tokens: readonly [string, string],
  ): Promise<Outcome[]> =>
    take(journeys[which], { ...places, fetch: fetchWith(tokens[0]), unauthorized: fetchWith(tokens[1]) }),
});
