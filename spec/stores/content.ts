/** Contents of the stores of earlier formats: the same in all of them, as far as their servers supported it. */
import { type Answer, type RequestOptions, request } from '../support/http.js';

/** Root IRI of the storage in all stores. */
export const root = 'http://localhost:8080/';

export interface StoredResource {
  readonly path: string;
  readonly type: string;
  readonly body: string;
}

const prefixes = '@prefix ex: <http://example.org/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .';

/** Resources in order of creation. Containers have no body. */
export const resources: readonly StoredResource[] = [
  {
    path: 'notes/hello',
    type: 'text/turtle',
    body: `${prefixes} <> a ex:Note ; ex:text "Hello", "Salut"@fr ; ex:count 7 ; ex:size "1.50"^^xsd:decimal, 2.5e0 ;
      ex:at "2026-11-21T12:00:00Z"^^xsd:dateTime ; ex:tag "a\\u0000b"^^ex:odd ; ex:see <hello#it>, <../elsewhere> .
      <#it> ex:in [ ex:name "Nobody" ] .`.replace('\\u0000', '\\t'),
  },
  { path: 'notes/empty', type: 'text/turtle', body: '' },
  { path: 'notes/2026/second', type: 'text/turtle', body: `${prefixes} <> a ex:Note ; ex:text "Zwei" .` },
  { path: 'data.json', type: 'application/json', body: '{"name":"J\u00fcrgen","numbers":[1,2.50,1e400]}' },
  { path: 'picture', type: 'image/x-picture', body: '\u0001\u0002 no picture at all' },
];

/** Containers, parents first. */
export const containers = ['notes/', 'notes/2026/'];

export const relation = 'https://example.org/rel';
export const linked = { from: 'notes/hello', to: 'https://example.org/other' };

/** Sends a request to a server of `root` that listens on another port. */
export const ask = (port: number, path: string, { headers = {}, ...options }: RequestOptions = {}): Promise<Answer> =>
  request(`http://localhost:${port}/${path}`, { ...options, headers: { Host: 'localhost:8080', ...headers } });
