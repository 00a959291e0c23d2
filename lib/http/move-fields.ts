/** Parses the fields of MOVE and COPY (RFC 4918 10.2, 10.3, 10.6). */
import type { IncomingMessage } from 'node:http';
import { originForm, readTarget } from '../resources/names.js';
import type { Storage } from '../resources/storage.js';
import { LwsError } from '../tools/errors.js';
import { field } from './request.js';

/** Returns the IRI in `Destination`: an absolute IRI of this storage, or a path. @throws LwsError `bad-request`, `iri-too-long` */
export function destinationOf({ rootIri }: Pick<Storage, 'rootIri'>, req: IncomingMessage): string {
  const value = field(req, 'destination')?.trim();
  if (value === undefined) throw new LwsError('bad-request', 'The Destination is missing. Send the new IRI.');
  if (/^[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]*@/i.test(value))
    throw new LwsError('bad-request', 'The Destination has user information before the host. Send it without.');
  const { origin } = new URL(rootIri);
  const isHere = !value.startsWith('/') && URL.canParse(value) && new URL(value).origin === origin;
  const path = value.startsWith('/') ? value : isHere ? originForm(value) : undefined;
  if (path === undefined || /[?#]/.test(path) || !(origin + path).startsWith(rootIri))
    throw new LwsError(
      'bad-request',
      `The Destination must be an IRI below ${rootIri}, or its path, without a query or a fragment.`,
    );
  return readTarget(path, rootIri).iri;
}

/** Returns the value of `Overwrite`, or `undefined` without the field. @throws LwsError `bad-request` */
export function overwrites(req: IncomingMessage): boolean | undefined {
  const value = field(req, 'overwrite')?.trim().toUpperCase();
  if (value !== undefined && value !== 'T' && value !== 'F')
    throw new LwsError('bad-request', 'Overwrite must be T or F.');
  return value && value === 'T';
}

/** Returns false for `Depth: 0`, which only COPY supports. @throws LwsError `bad-request` */
export function isDeep(req: IncomingMessage, copies: boolean): boolean {
  const value = field(req, 'depth')?.trim().toLowerCase() ?? 'infinity';
  if (value === 'infinity') return true;
  if (value === '0' && copies) return false;
  throw new LwsError('bad-request', `Depth must be infinity${copies ? ' or 0' : ''}.`);
}
