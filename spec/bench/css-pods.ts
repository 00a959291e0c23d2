/** Typical contents of pods: resources of many types and names, with descriptions and access control lists of many kinds. Pure. */

export interface Written {
  /** Percent-encoded path below the root. */
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
  /** Triples of the description, as a SPARQL update. */
  readonly meta?: string;
  readonly acl?: string;
}

/** WebIDs of the users. */
export interface People {
  readonly alice: string;
  readonly bob: string;
  readonly carol: string;
}

const prefixes = '@prefix acl: <http://www.w3.org/ns/auth/acl#> .\n@prefix foaf: <http://xmlns.com/foaf/0.1/> .\n';

type Rule = (people: People, root: string) => string;
/** Authorizations by kind of list, in addition to the owner's. */
const kinds: Readonly<Record<string, Rule>> = {
  public: () => 'acl:agentClass foaf:Agent ; acl:mode acl:Read',
  bob: ({ bob }) => `acl:agent <${bob}> ; acl:mode acl:Read, acl:Write`,
  members: () => 'acl:agentClass acl:AuthenticatedAgent ; acl:mode acl:Read',
  inbox: () => 'acl:agentClass foaf:Agent ; acl:mode acl:Append',
  team: (_, root) => `acl:agentGroup <${root}alice/team.ttl#team> ; acl:mode acl:Read, acl:Append`,
  control: ({ bob }) => `acl:agent <${bob}> ; acl:mode acl:Read, acl:Control`,
  write: ({ carol }) => `acl:agent <${carol}> ; acl:mode acl:Write`,
  both: ({ bob, carol }) => `acl:agent <${bob}>, <${carol}> ; acl:mode acl:Append, acl:Read`,
  // CSS ignores this property.
  old: () => 'acl:agentClass foaf:Agent ; acl:defaultForNew <./> ; acl:mode acl:Read',
  private: () => '',
};
const kindNames = Object.keys(kinds);

/** Kinds with another meaning in CSS: it ignores `acl:origin`, and fetches groups without credentials. */
const others: Readonly<Record<string, Rule>> = {
  origin: ({ bob }) => `acl:agent <${bob}> ; acl:origin <https://app.example> ; acl:mode acl:Read`,
  secret: (_, root) => `acl:agentGroup <${root}alice/private/team.ttl#team> ; acl:mode acl:Read`,
};
export const otherPlaces = Object.keys(others).map((kind) => `alice/${kind}/`);

interface ListOptions {
  readonly people: People;
  readonly root: string;
  /** Reference to the resource in its list: `./`, `./name` or an IRI. */
  readonly about: string;
  /** Part of the list that members of a container inherit. */
  readonly inherited: 'nothing' | 'owner' | 'all';
}

function listOf(kind: string, { people, root, about, inherited }: ListOptions): string {
  const target = (isInherited: boolean): string =>
    `acl:accessTo <${about}>${isInherited ? ` ; acl:default <${about}>` : ''}`;
  const all = `acl:agent <${people.alice}> ; ${target(inherited !== 'nothing')} ; acl:mode acl:Read, acl:Write, acl:Control`;
  const rule = (kinds[kind] ?? others[kind]!)(people, root);
  const more = rule ? `<#others> a acl:Authorization ; ${target(inherited === 'all')} ; ${rule} .\n` : '';
  return `${prefixes}<#owner> a acl:Authorization ; ${all} .\n${more}`;
}

const names = [
  ...[
    'with blank',
    'a+b',
    'a,b;c',
    'ünïcödé',
    '日本語',
    'hundred%',
    "quote's",
    'tilde~',
    'UPPER',
    '.hidden',
    'two.dots',
    'a..b',
  ],
  ...[
    'at@sign',
    '(brackets)',
    'hash#',
    'question?',
    'colon:',
    'pipe|',
    'star*',
    'less<',
    'amp&',
    'equal=',
    'dollar$',
    '$.x',
  ],
  ...[
    '😀',
    'back\\slash',
    'e\u0301',
    '\u00e9',
    'double"quote',
    'trailing.',
    'x$.ttl',
    'name.acl.txt',
    '[a]',
    '{b}',
    '^c',
    '`d',
  ],
];

interface Body {
  readonly extension: string;
  readonly type: string;
  body(index: number, root: string): string | Uint8Array;
}
const turtle = (index: number, root: string): string =>
  `@prefix s: <https://schema.org/> .\n@prefix : <#> .\n<> s:name "résumé ${index}"@fr ; s:about <other${index}>, <../x>, </alice/>, <${root}bob/profile/card#me> .\n` +
  `:it a s:Thing ; s:position ${index} ; s:item ( 1 "two" [ s:value 3.5 ; s:url <#it> ] ) .\n`;
const bodies: readonly Body[] = [
  { extension: '.ttl', type: 'text/turtle', body: turtle },
  { extension: '', type: 'text/turtle', body: turtle },
  {
    extension: '.json',
    type: 'application/json',
    body: (index) => `{"index":${index},"text":"ünï","big":12345678901234567890}`,
  },
  { extension: '.txt', type: 'text/plain', body: (index) => `Line ${index}\r\nünïcödé\n` },
  {
    extension: '.jsonld',
    type: 'application/ld+json',
    body: (index, root) =>
      `{"@id":"#it","https://schema.org/position":${index},"https://schema.org/url":{"@id":"${root}alice/"}}`,
  },
  { extension: '.png', type: 'image/png', body: (index) => Uint8Array.from([137, 80, 78, 71, ...bytes(index)]) },
  {
    extension: '.nt',
    type: 'application/n-triples',
    body: (index, root) => `<${root}alice/#${index}> <urn:p> "a\\u00e9" .\n`,
  },
  { extension: '.bin', type: 'application/octet-stream', body: (index) => Uint8Array.from(bytes(index * 7)) },
  { extension: '', type: 'application/x-strange', body: (index) => `strange ${index}` },
  { extension: '.md', type: 'text/markdown; charset=utf-8', body: (index) => `# ${index}\n` },
  { extension: '.jpeg', type: 'image/jpeg', body: (index) => Uint8Array.from([255, 216, ...bytes(index)]) },
  { extension: '.html', type: 'text/html', body: (index) => `<p>${index}</p>` },
  { extension: '.data', type: 'text/csv', body: (index) => `a,b\n${index},2\n` },
  { extension: '.n3', type: 'text/n3', body: (index) => `{ <#a> <#b> ${index} } => { <#c> <#d> <#e> } .\n` },
  { extension: '.txt', type: 'text/turtle', body: turtle },
  { extension: '.json', type: 'text/plain', body: () => 'no JSON' },
  {
    extension: '.ttl',
    type: 'text/turtle',
    body: (index) => (index % 3 === 0 ? '' : `<#a> <urn:broken> "${index}" . # ü\n`),
  },
];

const bytes = (index: number): number[] =>
  Array.from({ length: 50 + (index % 900) }, (_, at) => (at * 31 + index) % 256);

const description = (iri: string, index: number, root: string): string =>
  `INSERT DATA { <${iri}> a <https://schema.org/T${index % 4}> ; <http://www.w3.org/2000/01/rdf-schema#seeAlso> <${root}alice/other${index}>, ` +
  `<https://elsewhere.example/${index}> ; <http://www.iana.org/assignments/relation/license> <https://license.example/> ; ` +
  `<http://purl.org/dc/terms/title> "Title ${index}" }`;

/** Returns the containers, parents first. */
export function containersOf(people: People, root: string): Written[] {
  const all: Written[] = [];
  const at = (path: string, kind?: string, inherited: ListOptions['inherited'] = 'all'): void => {
    const list = kind === undefined ? {} : { acl: listOf(kind, { people, root, about: './', inherited }) };
    all.push({ path, type: '', body: '', ...list });
  };
  for (const [index, kind] of kindNames.entries()) {
    at(`alice/${kind}/`, kind, kind === 'old' ? 'owner' : 'all');
    at(`alice/${kind}/deep/`);
    at(`alice/${kind}/deep/er/`);
    at(`alice/${kind}/deep/own/`, kindNames[(index + 2) % kindNames.length]!);
    at(`alice/${kind}/bare/`, kind === 'old' ? undefined : kind, 'owner');
  }
  for (const kind of Object.keys(others)) at(`alice/${kind}/`, kind);
  at('alice/empty/');
  at(`alice/${encodeURIComponent('odd naïme, with blank')}/`, 'public');
  return all;
}

/** Returns the resources in the containers, and the group of the lists. @param count minimum number of resources */
export function resourcesOf(people: People, root: string, count: number): Written[] {
  const team = `<#team> a <http://www.w3.org/2006/vcard/ns#Group> ; <http://www.w3.org/2006/vcard/ns#hasMember> <${people.carol}> .`;
  const open = listOf('public', { people, root, about: './team.ttl', inherited: 'nothing' });
  const all: Written[] = [
    { path: 'alice/team.ttl', type: 'text/turtle', body: team, acl: open },
    { path: 'alice/private/team.ttl', type: 'text/turtle', body: team },
  ];
  const folders = containersOf(people, root)
    .map(({ path }) => path)
    .filter((path) => path !== 'alice/empty/');
  for (let index = 0; all.length < count; index++) {
    const { extension, type, body } = bodies[index % bodies.length]!;
    const folder = folders[Math.floor(index / bodies.length) % folders.length]!;
    const odd = index % 6 === 0 ? `${names[(index / 6) % names.length]} ` : '';
    const path = `${folder}${encodeURIComponent(`${odd}r${index}${extension}`)}`;
    const own = kindNames[((index / 23) % kindNames.length) | 0]!;
    // Every other list refers to its resource by IRI.
    const about = index % 2 === 0 ? root + path : `./${path.slice(folder.length)}`;
    all.push({
      ...{ path, type, body: body(index, root) },
      ...(index % 23 === 0 ? { acl: listOf(own, { people, root, about, inherited: 'nothing' }) } : {}),
      ...(index % 11 === 0 ? { meta: description(root + path, index, root) } : {}),
    });
  }
  return all;
}
