/** What is bundled for the browser: journeys, to be called by the spec. */
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
    take(journeys[which], { ...places, fetch: fetchWith(tokens[0]), strangers: fetchWith(tokens[1]) }),
});
