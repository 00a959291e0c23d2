/** Requests that could reveal the existence of a resource, and the observable part of a response (rule 4.3). */
import type { Answer } from './http.js';

export interface Probe {
  readonly method: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const turtle = { 'Content-Type': 'text/turtle' };
const update = { 'Content-Type': 'application/sparql-update' };
const jsonPatch = { 'Content-Type': 'application/json-patch+json' };
const linkset = { 'Content-Type': 'application/linkset+json' };
const insert = 'INSERT DATA { <a> <b> <c> }';

/** Requests whose response must not reveal that an unreadable resource exists. */
export const probes: Readonly<Record<string, Probe>> = {
  GET: { method: 'GET' },
  HEAD: { method: 'HEAD' },
  OPTIONS: { method: 'OPTIONS' },
  POST: { method: 'POST', headers: turtle, body: '' },
  PATCH: { method: 'PATCH', headers: update, body: insert },
  'PATCH with a stale tag': { method: 'PATCH', headers: { ...update, 'If-Match': '"x"' }, body: insert },
  'PATCH with If-None-Match: *': { method: 'PATCH', headers: { ...update, 'If-None-Match': '*' }, body: insert },
  'PATCH with a syntax error': { method: 'PATCH', headers: update, body: 'INSERT' },
  'PATCH with an unsupported type': { method: 'PATCH', headers: { 'Content-Type': 'text/n3' }, body: 'x' },
  'PATCH with a failing test': { method: 'PATCH', headers: jsonPatch, body: '[{"op":"test","path":"/a","value":9}]' },
  'PATCH with a passing test': { method: 'PATCH', headers: jsonPatch, body: '[{"op":"test","path":"/a","value":1}]' },
  DELETE: { method: 'DELETE' },
  'DELETE with a stale tag': { method: 'DELETE', headers: { 'If-Match': '"x"' } },
  'DELETE with If-Match: *': { method: 'DELETE', headers: { 'If-Match': '*' } },
  'DELETE with Depth': { method: 'DELETE', headers: { Depth: 'infinity' } },
  'GET with If-None-Match: *': { method: 'GET', headers: { 'If-None-Match': '*' } },
  'GET with If-Match': { method: 'GET', headers: { 'If-Match': '"x"' } },
  'GET with If-Modified-Since': { method: 'GET', headers: { 'If-Modified-Since': 'Thu, 01 Jan 2099 00:00:00 GMT' } },
  'GET with a range': { method: 'GET', headers: { Range: 'bytes=999-' } },
  'GET as JSON': { method: 'GET', headers: { Accept: 'application/json', 'Want-Repr-Digest': 'sha-256=1' } },
  QUERY: { method: 'QUERY', headers: { 'Content-Type': 'application/sparql-query' }, body: 'ASK {}' },
  PROPFIND: { method: 'PROPFIND' },
};

/** Requests that create a resource. */
export const creations: Readonly<Record<string, Probe>> = {
  PUT: { method: 'PUT', headers: turtle, body: '' },
  'PUT of malformed RDF': { method: 'PUT', headers: turtle, body: '<> a' },
  'PUT of bytes': { method: 'PUT', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
  'PUT without a body': { method: 'PUT' },
  'PUT with a wrong digest': {
    method: 'PUT',
    headers: { ...turtle, 'Content-Digest': `sha-256=:${'A'.repeat(43)}=:` },
    body: '',
  },
  'PUT with If-Match': { method: 'PUT', headers: { ...turtle, 'If-Match': '"x"' }, body: '' },
  'PUT with If-Match: *': { method: 'PUT', headers: { ...turtle, 'If-Match': '*' }, body: '' },
  'PUT with If-None-Match: *': { method: 'PUT', headers: { ...turtle, 'If-None-Match': '*' }, body: '' },
  'PUT of links': { method: 'PUT', headers: linkset, body: '{"linkset":[{}]}' },
};

/** Returns the observable part of a response, without Date and request ids. @param name requested name, replaced if the response repeats it */
export function visible({ status, headers: { date, ...headers }, text }: Answer, name = ' '): unknown {
  const clean = (part: string): string => part.replace(/urn:uuid:[0-9a-f-]{36}/g, 'ID').replaceAll(name, 'NAME');
  return { status, headers: JSON.parse(clean(JSON.stringify(headers))), body: clean(text) };
}
