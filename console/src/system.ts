/** Addresses below the system prefix, which only the endpoints in the storage description tell. */
import { services } from './api.js';
import { storageUri } from './session.js';

const known = ['TypeIndexService', 'AccessGrantService', 'NotificationService', 'SparqlQueryService'];

/** @param name such as `owners` */
export async function systemUrl(name: string): Promise<string> {
  const own = (await services()).find(({ type }) => [type].flat().some((each) => known.includes(each)));
  // The default of `lws.system-prefix`, where every service is switched off.
  return new URL(name, own?.serviceEndpoint ?? `${storageUri}.lws/`).href;
}
