/**
 * Migration from a real Community Solid Server: writes resources to it, checks the access of its users, imports its data
 * directory under another base URI, and compares bodies, media types, links, containers and access. Run it with `node
 * dist/spec/bench/css-move.js FOLDER [resources]`. FOLDER is the directory to install that server in. It is not a spec. It prints
 * all differences, and exits with 1 if there are any.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { importJWK, SignJWT } from 'jose';
import { isomorphic } from '../lib/rdf/isomorphism.js';
import { type Answer, request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { runProcess, type ServerProcess, startProcess } from '../support/process.js';
import { mediaType, readRdf } from '../support/rdf.js';
import { containersOf, otherPlaces, resourcesOf, type Written } from './css-pods.js';
import { type Ask, type Askers, answersOf, forEach } from './css-questions.js';
import { type CommunityServer, type Person, startCommunityServer } from './css-server.js';

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const [folder, wanted] = [resolve(process.argv[2] ?? 'css'), Number(process.argv[3] ?? 5000)];
const differences: string[] = [];
const differ = (text: string): void => void differences.push(text);

/** Writes a resource with its description and its access control list. @returns true if the server accepted the resource */
async function write(alice: Person, root: string, { path, type, body, meta, acl }: Written): Promise<boolean> {
  const iri = root + path;
  const put = async (target: string, headers: Record<string, string>, content: Written['body']): Promise<boolean> => {
    const { status, text } = await alice.send(target, { method: 'PUT', headers, body: content });
    if (status >= 300) print(`The Community Solid Server returned ${status} to PUT ${target}: ${text.slice(0, 200)}`);
    return status < 300;
  };
  const container = { 'Content-Type': 'text/turtle', Link: '<http://www.w3.org/ns/ldp#Container>; rel="type"' };
  if (!(await put(iri, type === '' ? container : { 'Content-Type': type }, body))) return false;
  if (acl !== undefined) await put(`${iri}.acl`, { 'Content-Type': 'text/turtle' }, acl);
  if (meta === undefined) return true;
  const headers = { 'Content-Type': 'application/sparql-update' };
  const { status, text } = await alice.send(`${iri}.meta`, { method: 'PATCH', headers, body: meta });
  if (status >= 300) print(`The Community Solid Server returned ${status} to PATCH ${iri}.meta: ${text.slice(0, 200)}`);
  return true;
}

interface Kept {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
}

async function importInto(
  server: Omit<ServerProcess, 'output'>,
  css: CommunityServer,
  environment: Record<string, string>,
) {
  const words = ['import', css.data, '--format', 'css', '--acls', '--rewrite', `${css.root}=${server.root}`];
  const began = performance.now();
  const { code, stdout, stderr } = await runProcess(words, { ...server, environment, seconds: 300 });
  print(
    `Import: exit code ${code}, ${((performance.now() - began) / 1000).toFixed(1)} s.\n${stdout}${stderr.slice(-500)}`,
  );
}

/** Returns a client for the subject, with a token that the server's own key signs. */
function askerFor({ dataDir, root }: ServerProcess, subject: string): Ask {
  const [{ kid, jwk }] = JSON.parse(readFileSync(join(dataDir, 'oauth-keys.json'), 'utf8')).keys;
  const token = async (): Promise<string> =>
    new SignJWT({ client_id: subject })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid })
      .setIssuer(root.slice(0, -1))
      .setSubject(subject)
      .setAudience(root)
      .setJti(`${Math.random()}`)
      .setIssuedAt()
      .setNotBefore(Math.floor(Date.now() / 1000))
      .setExpirationTime('10m')
      .sign(await importJWK(jwk, 'ES256'));
  const made = token();
  return async (iri, { headers = {}, ...options } = {}) =>
    request(iri, { ...options, headers: { ...headers, Authorization: `Bearer ${await made}` } });
}

async function compareContent(ask: Ask, from: string, to: string, { path, type, body }: Kept): Promise<string> {
  const answer = await ask(to + path, { headers: { Accept: `${type}, */*;q=0.1` } });
  if (answer.status !== 200) {
    differ(`${path}: ${answer.status} ${answer.text.slice(0, 200)}`);
    return 'missing';
  }
  const found = answer.headers['content-type'] ?? '';
  if (found.replaceAll(' ', '').toLowerCase() !== type.replaceAll(' ', '').toLowerCase())
    differ(`${path}: media type ${type} became ${found}`);
  if (answer.bytes.equals(body)) return 'equal bytes';
  try {
    const before = await readRdf(body.toString('utf8').replaceAll(from, to), type.split(';')[0]!, to + path);
    if (isomorphic(before, await readRdf(answer.text, mediaType(answer), to + path))) return 'isomorphic';
  } catch (error) {
    differ(`${path} (${type}): ${(error as Error).message}`);
    return 'different';
  }
  differ(`${path} (${type}): the content differs`);
  return 'different';
}

async function compareLinks(ask: Ask, from: string, to: string, { path, meta }: Written): Promise<void> {
  const answer = await ask(`${to}${path}.meta`, { headers: { Accept: 'application/linkset+json' } });
  for (const [, iri] of meta!.replaceAll(from, to).matchAll(/<([^>]+)>/g)) {
    if (iri === to + path) continue;
    const isThere = [iri!, iri!.replace('http://www.iana.org/assignments/relation/', '')].some((name) =>
      answer.text.includes(JSON.stringify(name)),
    );
    if (!isThere && !iri!.endsWith('#type')) differ(`${path}: link to ${iri} is missing: ${answer.text.slice(0, 500)}`);
  }
}

/** Returns the members of a container as sorted paths. */
async function membersOf(ask: Ask, root: string, path: string, isHere: boolean): Promise<string> {
  const answer = await ask(root + path, { headers: { Accept: isHere ? 'application/lws+json' : 'text/turtle' } });
  const found = new Set<string>();
  if (isHere) {
    for (let page: Answer | undefined = answer; page; ) {
      for (const { id } of (JSON.parse(page.text) as { items: { id: string }[] }).items) found.add(id);
      const next: string | undefined = /<([^>]*)>; rel="?next/.exec(page.headers['link'] ?? '')?.[1];
      page =
        next === undefined
          ? undefined
          : await ask(new URL(next, root + path).href, { headers: { Accept: 'application/lws+json' } });
    }
  } else
    for (const { predicate, object } of await readRdf(answer.text, 'text/turtle', root + path))
      if (predicate.value === 'http://www.w3.org/ns/ldp#contains') found.add(object.value);
  // Listings of CSS encode once more the characters that are encoded in its files. The resources keep their addresses.
  const encodedTwice = /%25(3C|3E|3A|22|7C|3F|2A)/g;
  const spelled = (iri: string): string => iri.replace(root, '').replace(encodedTwice, '%$1').replaceAll('%2A', '*');
  return [...found].map(spelled).sort().join(' ');
}

const css = await startCommunityServer(folder, ['alice', 'bob', 'carol']);
const [alice, bob, carol] = css.people as [Person, Person, Person];
const ids = { alice: alice.webId, bob: bob.webId, carol: carol.webId };
let began = performance.now();
const containers = containersOf(ids, css.root);
const refused: string[] = [];
for (const each of containers) if (!(await write(alice, css.root, each))) refused.push(each.path);
const resources = resourcesOf(ids, css.root, wanted);
await forEach(resources, async (each) => void ((await write(alice, css.root, each)) || refused.push(each.path)));
const there = resources.filter(({ path }) => !refused.includes(path));
print(
  `${there.length} resources written in ${((performance.now() - began) / 1000).toFixed(1)} s, ${refused.length} rejected.`,
);

const kept: Kept[] = [];
await forEach(
  [...there.map(({ path }) => path), 'alice/README', 'alice/profile/card', 'bob/profile/card'],
  async (path) => {
    const by = path.startsWith('bob/') ? bob : alice;
    const { status, headers, bytes } = await by.send(css.root + path, { headers: { Accept: '*/*' } });
    if (status !== 200) return differ(`${path}: the Community Solid Server returned ${status}`);
    kept.push({ path, type: headers['content-type'] ?? '', body: bytes });
  },
);
const folders = ['alice/', ...containers.map(({ path }) => path)];
const listings = new Map<string, string>();
for (const path of folders)
  listings.set(path, await membersOf((iri, options) => alice.send(iri, options), css.root, path, false));

const listed = there.filter(({ acl }) => acl !== undefined);
const checked = [...folders, 'bob/', 'alice/profile/card', 'alice/README', 'bob/profile/card'];
for (const step of [listed, there.filter((_, index) => index % 37 === 5)])
  checked.push(...step.slice(0, (135 - checked.length) / (step === listed ? 2 : 1)).map(({ path }) => path));
const anonymous: Ask = (iri, options) => request(iri, options);
const askersThere: Askers = {
  anonymous,
  alice: (iri, options) => alice.send(iri, options),
  bob: (iri, options) => bob.send(iri, options),
  carol: (iri, options) => carol.send(iri, options),
};
const before = await answersOf(css.root, askersThere, checked);
await css.stop();

const environment = {
  LWS_DEV_OPEN: 'false',
  LWS_ACCESS_CONTROL: 'wac',
  LWS_OWNERS: ed25519Identity().did,
  LWS_CONSOLE_ENABLED: 'false',
};
const first = await startProcess({ environment });
await first.stop();
await importInto(first, css, environment);
const server = await startProcess({ ...first, environment });
const as = (person: Person): Ask => askerFor(server, person.webId.replace(css.root, server.root));
const askersHere: Askers = { anonymous, alice: as(alice), bob: as(bob), carol: as(carol) };
const here = askersHere['alice']!;
began = performance.now();
const counts: Record<string, number> = {};
await forEach(kept, async (each) => {
  const outcome = await compareContent(
    each.path.startsWith('bob/') ? askersHere['bob']! : here,
    css.root,
    server.root,
    each,
  );
  counts[outcome] = (counts[outcome] ?? 0) + 1;
});
const described = there.filter(({ meta }) => meta !== undefined);
await forEach(described, (each) => compareLinks(here, css.root, server.root, each));
for (const path of folders) {
  const [was, is] = [listings.get(path), await membersOf(here, server.root, path, true)];
  if (was !== is) differ(`${path}: members differ:\n${was}\n${is}`);
}
const after = await answersOf(server.root, askersHere, checked);
const equal = { answers: 0, deletes: 0, elsewhere: 0, differing: 0 };
for (const [question, answer] of before) {
  const found = after.get(question)!;
  if (otherPlaces.some((place) => question.includes(` ${place}`))) {
    equal.elsewhere++;
    equal.differing += Number(found !== answer);
  } else if (found === answer) equal.answers++;
  // In Quadpod, DELETE needs Write on the resource, but not on the container.
  else if (found === answer.replace('delete: no', 'delete: yes')) equal.deletes++;
  else differ(`${question}: ${answer}\n    became ${found}`);
}
print(
  `Contents: ${kept.length}: ${JSON.stringify(counts)}. Descriptions: ${described.length}. Containers: ${folders.length}.`,
);
print(
  `Access checks: ${before.size}, with ${new Set(before.values()).size} different results. Equal: ${equal.answers}.`,
);
print(
  `DELETE without Write on the container: ${equal.deletes}. Below ${otherPlaces.join(', ')}: ${equal.elsewhere}, ${equal.differing} of them differ.`,
);
print(`Differences: ${differences.length}\n${differences.slice(0, 60).join('\n')}`);
await server.stop();
process.exitCode = differences.length === 0 ? 0 : 1;
