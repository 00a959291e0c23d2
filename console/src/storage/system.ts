/** Addresses below the system prefix, which only the endpoints in the storage description tell. */

import { storageUri } from '../session/session.js';
import { services } from './api.js';

const known = ['TypeIndexService', 'AccessGrantService', 'NotificationService', 'SparqlQueryService'];

/** @param name such as `owners` */
export async function systemUrl(name: string): Promise<string> {
  const own = (await services()).find(({ type }) => [type].flat().some((each) => known.includes(each)));
  // The default of `lws.system-prefix`, where every service is switched off.
  return new URL(name, own?.serviceEndpoint ?? `${storageUri}.lws/`).href;
}
