/** Contents of resources, their serialization, and parsing of responses. It must not know the order of writes. */
import { createHash, randomBytes, randomUUID } from 'node:crypto';

export type Content =
  | { readonly kind: 'rdf'; readonly lines: readonly string[] }
  | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: 'binary'; readonly bytes: Buffer }
  | { readonly kind: 'container' };
/** `undefined`: the resource does not exist. */
export type State = Content | undefined;

export const below = (count: number): number => Math.floor(Math.random() * count);

/** Every triple has the same predicate, so that a partial change is visible. */
export function rdfContent(): Content {
  const predicate = `<urn:version:${randomUUID()}>`;
  // Above a few hundred triples the server uses another code path.
  const count = below(10) === 0 ? 600 : 1 + below(100);
  return { kind: 'rdf', lines: Array.from({ length: count }, (_, i) => `<urn:s:${i}> ${predicate} "${i}" .`) };
}

export function dataContent(): Content {
  const kind = below(3);
  if (kind === 0) return rdfContent();
  if (kind === 1) return { kind: 'json', value: { version: randomUUID(), filler: 'x'.repeat(below(20_000)) } };
  return { kind: 'binary', bytes: randomBytes(1 + below(300_000)) };
}

/** Media type and bytes of a request. */
export function encode(content: Content): { type: string; body: Buffer | string } | undefined {
  switch (content.kind) {
    case 'rdf':
      return { type: 'application/n-triples', body: content.lines.join('\n') };
    case 'json':
      return { type: 'application/json', body: JSON.stringify(content.value) };
    case 'binary':
      return { type: 'application/octet-stream', body: content.bytes };
    case 'container':
      return undefined;
  }
}

/** State in a response to GET with `readable` as its Accept. @throws Error for any other response */
export const readable = 'application/n-triples, */*;q=0.1';
export async function decode(response: Response): Promise<State> {
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status === 404) return undefined;
  if (response.status !== 200) throw new Error(`GET ${response.url} answers ${response.status}: ${bytes}`);
  if (response.url.endsWith('/')) return { kind: 'container' };
  const type = response.headers.get('Content-Type');
  if (type === 'application/n-triples') return { kind: 'rdf', lines: bytes.toString().trim().split('\n') };
  if (type === 'application/json') return { kind: 'json', value: JSON.parse(bytes.toString()) };
  if (type === 'application/octet-stream') return { kind: 'binary', bytes };
  throw new Error(`GET ${response.url} answers with the type ${type}`);
}

/** Equal for equal states, and short enough for a message. */
export function fingerprint(state: State): string {
  if (!state) return 'absent';
  if (state.kind === 'container') return 'container';
  const hash = createHash('sha256');
  if (state.kind === 'rdf') hash.update([...state.lines].sort().join('\n'));
  else if (state.kind === 'json') hash.update(JSON.stringify(Object.entries(state.value).sort()));
  else hash.update(state.bytes);
  return `${state.kind} ${hash.digest('hex').slice(0, 12)}`;
}
