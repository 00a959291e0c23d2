/** Rule 1.3. */
import { expect } from 'chai';
import { asContainer, describeStorage } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

/** Reserved paths below the root. */
const reservedPaths = [
  '.lws',
  '.lws/',
  '.lws/x',
  '.lws/x/',
  '.LWS/x',
  '.lws/token',
  '.lws/storage-description',
  '.lws/deep/er/x',
  'app',
  'app/',
  'app/x',
  'APP',
  'App/x/',
  'callback',
  'callback/',
  'callback/x',
  'CallBack',
  '.well-known/lws-configuration',
  '.well-known/lws-configuration/',
  '.well-known/LWS-Configuration',
  '.well-known/acme-challenge',
  '.well-known/acme-challenge/x',
  '.well-known/ACME-challenge/x/',
  '.acl',
  '.acl/',
  '.ACL',
];

describeStorage('Reserved names', (s) => {
  for (const path of reservedPaths)
    it(`Reserved names, rule 1.3: PUT at ${path} is 409`, async () => {
      const iri = s.root + path;
      const isContainer = path.endsWith('/');
      expectProblem(await s.send('PUT', iri, {}, isContainer ? undefined : 'x'), 409, s);
      expectProblem(await s.send('PUT', iri, { 'If-None-Match': '*' }, isContainer ? undefined : 'x'), 409, s);
      expect((await s.members(s.root)).map((member) => member.toLowerCase())).not.to.include(iri.toLowerCase());
    });

  for (const name of [
    'x.acl',
    'x.ACL',
    'x.aCl/',
    'x.acl/',
    '.acl',
    '.acl/',
    'x.META',
    'x.Meta',
    'x.meta/',
    '.META/',
    'x.txt.acl',
  ])
    it(`Reserved names, rule 1.3: PUT at ${name} in a container is 409`, async () => {
      const container = await s.container();
      expectProblem(await s.send('PUT', container + name, {}, name.endsWith('/') ? undefined : 'x'), 409, s);
      expect(await s.members(container)).to.deep.equal([]);
    });

  for (const name of ['x.acl', 'x.meta', '.acl', '.meta', 'X.ACL', 'x.Meta', 'x.acl!', ' x.meta '])
    it(`Reserved names: POST with the Slug "${name}" is 409`, async () => {
      const container = await s.container();
      expectProblem(await s.post(container, 'text/plain', 'x', { Slug: name }), 409, s);
      expectProblem(await s.send('POST', container, { Slug: name, ...asContainer }), 409, s);
      expectProblem(await s.send('POST', container, { Slug: `${name.trim()}/` }), 409, s);
      expect(await s.members(container)).to.deep.equal([]);
    });

  for (const name of ['.lws', 'app', 'callback', '.LWS', 'APP'])
    it(`Reserved names: POST to the root with the Slug "${name}" is 409`, async () => {
      expectProblem(await s.post(s.root, 'text/plain', 'x', { Slug: name }), 409, s);
      expectProblem(await s.send('POST', s.root, { Slug: `${name}/` }), 409, s);
    });

  for (const name of [
    'x%2Eacl',
    '%2Emeta',
    'x.acl.txt',
    'acl',
    'meta',
    '.aclx',
    'x.metadata',
    'app',
    'callback',
    '.lws',
    '.well-known/',
  ])
    it(`Reserved names: ${name} in a container is a valid name`, async () => {
      const iri = (await s.container()) + name;
      expect((await s.send('PUT', iri, {}, name.endsWith('/') ? undefined : 'x')).status).to.equal(201);
      expect((await s.get(iri)).status).to.equal(200);
    });

  for (const name of ['application', '.lwsx', 'callbacks/', 'app.txt', '%2Elws'])
    it(`Reserved names: ${name} in the root is a valid name`, async () => {
      const iri = s.root + name;
      expect((await s.send('PUT', iri, {}, name.endsWith('/') ? undefined : 'x')).status).to.equal(201);
      expect((await s.delete(iri)).status).to.equal(204);
    });

  it('Reserved names: paths below the system prefix are not listed', async () => {
    const paths = (await s.members(s.root)).map((iri) => iri.slice(s.root.length).toLowerCase());
    expect(paths).to.include(s.scratch.slice(s.root.length).toLowerCase());
    for (const path of paths) expect(path).not.to.match(/^(?:\.lws|app|callback)(?:\/|$)|\.(?:acl|meta)\/?$/);
  });

  it('Reserved names, rule 6.11: 409 precedes every other error of a PUT', async () => {
    for (const name of ['x.acl', '.lws/x', 'app'])
      for (const [field, value] of [
        ['Content-Digest', ':::'],
        ['If-Match', 'no tag'],
        ['Link', '<'],
        ['Content-Type', 'nonsense'],
        ['Content-Range', 'bytes 0-0/1'],
      ] as const)
        expectProblem(await s.send('PUT', s.root + name, { [field]: value }, 'x'), 409, s);
    expectProblem(await s.send('PUT', `${s.root}x.acl?a=b`, {}, 'x'), 409, s);
  });

  it('in owner mode there is no ACL: GET is 404 (rule 1.4)', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    expectProblem(await s.get(`${iri}.acl`), 404, s);
  });
});

describeStorage(
  'Reserved names with another system prefix',
  (s) => {
    it('Reserved names: the configured prefix is reserved, the default one is not', async () => {
      expectProblem(await s.put(`${s.root}.sys/x`, 'text/plain', 'x'), 409, s);
      expectProblem(await s.put(`${s.root}.SYS`, 'text/plain', 'x'), 409, s);
      expect((await s.send('PUT', `${s.root}.lws/`)).status).to.equal(201);
      expect((await s.send('GET', `${s.root}.sys/storage-description`, {}, undefined, 'anonymous')).status).to.equal(
        200,
      );
    });
  },
  { settings: { 'system-prefix': '/.sys' } },
);
