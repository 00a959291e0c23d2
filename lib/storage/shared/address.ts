/** The address of a database, as settings name it. */
import type { DatabaseAddress } from './connection.js';

/** Whether the name of a schema needs no quotes in SQL, so that operators find it with the tools of the database. */
export const isSchemaName = (name: string): boolean => /^[a-z_][a-z0-9_]{0,62}$/.test(name);

/** `postgres://user@host:port/database`, with TLS as `?sslmode=` says, and without a password, which has a setting of its own. */
export function isDatabaseUrl(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, password, searchParams } = new URL(url);
  return /^postgres(?:ql)?:$/.test(protocol) && password === '' && !searchParams.has('password');
}

export const databaseAddress = (settings: {
  readonly store: string | null;
  readonly storeSchema: string;
  readonly storePassword: string | null;
}): DatabaseAddress | undefined =>
  settings.store === null
    ? undefined
    : { url: settings.store, schema: settings.storeSchema, password: settings.storePassword ?? undefined };
