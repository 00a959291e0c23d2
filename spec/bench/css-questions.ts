/** Access checks for any server. They change nothing. */
import type { Answer, RequestOptions } from '../support/http.js';

export type Ask = (iri: string, options?: RequestOptions) => Promise<Answer>;
/** Clients by name. */
export type Askers = Readonly<Record<string, Ask>>;

/** Runs eight items at a time, in order. */
export async function forEach<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) await work(items[next++]!);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** Returns the access of a client, in a form that is comparable between servers. */
async function accessOf(ask: Ask, iri: string): Promise<string> {
  const isAllowed = ({ status }: Answer): string => ([401, 403, 404].includes(status) ? 'no' : 'yes');
  const head = await ask(iri, { method: 'HEAD' });
  const headers = { 'If-Match': '"none"', 'Content-Type': 'text/turtle' };
  // The precondition fails, so that an authorized request changes nothing either.
  const written = await ask(iri, { method: iri.endsWith('/') ? 'POST' : 'PUT', headers, body: '<> no Turtle' });
  if (written.status < 300) throw new Error(`${iri} accepted a request with a failing precondition.`);
  const deleted = await ask(iri, { method: 'DELETE', headers });
  if (deleted.status < 300) throw new Error(`${iri} was deleted by a request with a failing precondition.`);
  const modes = head.status === 200 ? modesOf(head.headers['wac-allow'] ?? '') : '';
  const kind = iri.endsWith('/') ? 'append' : 'write';
  return `read: ${isAllowed(head)}, ${kind}: ${isAllowed(written)}, delete: ${isAllowed(deleted)}, ${modes}`;
}

/** Returns the modes of `WAC-Allow` in sorted order. Write implies append. */
function modesOf(field: string): string {
  const shown = (name: string): string => {
    const found = new Set((new RegExp(`${name}="([^"]*)"`).exec(field)?.[1] ?? '').split(' ').filter(Boolean));
    if (found.has('write')) found.add('append');
    return `${name}: ${[...found].sort().join(' ')}`;
  };
  return `${shown('user')}, ${shown('public')}`;
}

/** Checks the access of every client to every path. @returns results by client and path */
export async function answersOf(root: string, askers: Askers, paths: readonly string[]): Promise<Map<string, string>> {
  const answers = new Map<string, string>();
  await forEach(paths, async (path) => {
    for (const [name, ask] of Object.entries(askers)) answers.set(`${name} ${path}`, await accessOf(ask, root + path));
  });
  return answers;
}
