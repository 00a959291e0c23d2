/** Where the storage lies. */
import { matching, optional, setting, text } from '../settings.js';
import { isDatabaseUrl, isSchemaName } from '../storage/shared/address.js';

export const storeSettings = {
  dataDir: setting('lws.data-dir', text('a path'), 'lws-data', 'The folder of everything that is stored.'),
  store: setting(
    'lws.store',
    optional(matching(isDatabaseUrl, 'postgres://user@host/database without a password (that is lws.store.password)')),
    null,
    'The PostgreSQL database through which several servers serve one storage; nothing: this server alone, on its disk.',
  ),
  storePassword: setting('lws.store.password', optional(text('a password')), null, 'The password for lws.store.'),
  storeSchema: setting(
    'lws.store.schema',
    matching(isSchemaName, 'a name of lower-case letters, digits and underscores'),
    'quadpod',
    'The schema of the database that has the tables of this storage; it is made when it is missing.',
  ),
};
