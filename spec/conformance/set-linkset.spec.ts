/** Rules 6.4, 11.10: metadata written together with the resource. */
import { expect } from 'chai';
import { describeStorage, ldp, lws, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem, linked } from '../support/expectations.js';
import type { Answer } from '../support/http.js';
import { clientPart, linksOfResource, managed, mergePatch, putLinks } from '../support/linkset.js';

const e = 'https://e.example/';
const update = 'application/sparql-update';
const insert = 'INSERT DATA { <> a <#New> }';
const set = { Prefer: 'set-linkset' };
const links = `<${e}d>; rel="describedby"; title="About", <${e}Person>; rel="type", <${e}t>; rel="${e}rel"`;
const linksPart = {
  describedby: [{ href: `${e}d`, title: 'About' }],
  [`${e}rel`]: [{ href: `${e}t` }],
  types: [`${e}Person`],
};
const old = { author: 'Ada', license: [{ href: `${e}l` }], type: [{ href: `${e}Old` }] };
const oldPart = { author: 'Ada', license: [{ href: `${e}l` }], types: [`${e}Old`] };

/** The three kinds of data resource and their patch formats. */
const kinds = [
  ['text/turtle', '<> a <#C> .', '<> a <#D> .', update, insert],
  ['application/json', '{"a":1}', '{"a":2}', mergePatch, '{"a":3}'],
  ['text/plain', 'x', 'y', undefined, undefined],
] as const;

function expectApplied(answer: Answer, status: number): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['preference-applied']).to.equal('set-linkset');
}

async function withOld(s: StorageUnderTest, type: string, body: string): Promise<string> {
  const { iri } = await s.stored(type, body);
  expect((await putLinks(s, iri, old)).status).to.equal(204);
  return iri;
}

function applied(s: StorageUnderTest): void {
  for (const [type, body, replaced, patchType, patch] of kinds) {
    it(`PUT with set-linkset creates ${type} with the relations of its Link fields (rule 11.10)`, async () => {
      const iri = s.fresh();
      expectApplied(await s.put(iri, type, body, { ...set, Link: links }), 201);
      expect(await clientPart(s, iri)).to.deep.equal(linksPart);
      expect(linked(await s.get(iri), 'type')).to.include(`${e}Person`);
    });

    it(`PUT with set-linkset replaces all client-managed links of ${type} (rule 11.10)`, async () => {
      const iri = await withOld(s, type, body);
      expectApplied(await s.put(iri, type, replaced, { ...set, Link: links, 'If-Match': '*' }), 204);
      expect(await clientPart(s, iri)).to.deep.equal(linksPart);
      expect((await s.get(iri)).text).not.to.equal(body);
    });

    it(`without set-linkset a PUT of ${type} does not change metadata (rule 11.10)`, async () => {
      const created = s.fresh();
      expect((await s.put(created, type, body, { Link: links })).status).to.equal(201);
      expect(await clientPart(s, created)).to.deep.equal({ types: [] });
      const iri = await withOld(s, type, body);
      for (const headers of [{}, { Link: links }, { Link: links, Prefer: 'return=minimal' }]) {
        const answer = await s.put(iri, type, replaced, { ...headers, 'If-Match': '*' });
        expect(answer.status).to.equal(204);
        expect(answer.headers).not.to.have.property('preference-applied');
        expect(await clientPart(s, iri)).to.deep.equal(oldPart);
      }
    });

    if (!patchType) continue;

    it(`PATCH of ${type} with set-linkset changes only the named relations (rule 11.10)`, async () => {
      const iri = await withOld(s, type, body);
      const named = `<${e}d>; rel="describedby", <${e}l2>; rel="license"`;
      expectApplied(await s.patch(iri, patchType, patch, { ...set, Link: named }), 204);
      const { license, ...others } = await clientPart(s, iri);
      expect(others).to.deep.equal({ author: 'Ada', describedby: [{ href: `${e}d` }], types: [`${e}Old`] });
      expect((license as { href: string }[]).map(({ href }) => href)).to.include(`${e}l2`);
      expect((await s.get(iri)).text).not.to.equal(body);
    });

    it(`PATCH of ${type} with set-linkset may declare types (rule 11.10)`, async () => {
      const iri = await withOld(s, type, body);
      expectApplied(await s.patch(iri, patchType, patch, { ...set, Link: `<${e}New>; rel="type"` }), 204);
      const { types, ...others } = await clientPart(s, iri);
      expect(types).to.include(`${e}New`);
      expect({ ...others, types: oldPart.types }).to.deep.equal(oldPart);
      expect(linked(await s.get(iri), 'type')).to.include(`${e}New`);
    });

    it(`without set-linkset a PATCH of ${type} does not change metadata (rule 11.10)`, async () => {
      const iri = await withOld(s, type, body);
      for (const headers of [{}, { Link: links }]) {
        const answer = await s.patch(iri, patchType, patch, headers);
        expect(answer.status).to.equal(204);
        expect(answer.headers).not.to.have.property('preference-applied');
      }
      expect(await clientPart(s, iri)).to.deep.equal(oldPart);
    });
  }

  it('a JSON Patch with set-linkset behaves the same (rule 11.10)', async () => {
    const iri = await withOld(s, 'application/json', '{"a":1}');
    const patch = '[{"op":"replace","path":"/a","value":2}]';
    const headers = { ...set, Link: `<${e}d>; rel="describedby"` };
    expectApplied(await s.patch(iri, 'application/json-patch+json', patch, headers), 204);
    expect(await clientPart(s, iri)).to.deep.equal({ ...oldPart, describedby: [{ href: `${e}d` }] });
  });

  it('a PATCH without content changes still applies the links (rule 11.10)', async () => {
    const iri = await withOld(s, 'application/json', '{"a":1}');
    expectApplied(await s.patch(iri, mergePatch, '{}', { ...set, Link: `<${e}d>; rel="describedby"` }), 204);
    expect(await clientPart(s, iri)).to.deep.equal({ ...oldPart, describedby: [{ href: `${e}d` }] });
  });

  it('PUT of a new container with set-linkset (rule 11.10)', async () => {
    const iri = s.fresh('/');
    expectApplied(await s.send('PUT', iri, { ...set, Link: `<${lws}Container>; rel="type", ${links}` }), 201);
    expect(await clientPart(s, iri)).to.deep.equal(linksPart);
  });

  it('several targets of a relation, and several relations of a target (rule 11.10)', async () => {
    const iri = s.fresh();
    const Link = `<${e}1>; rel="author", <${e}2>; rel=author, <${e}3>; rel="author license"`;
    expectApplied(await s.put(iri, 'text/plain', 'x', { ...set, Link }), 201);
    const { author, license } = await clientPart(s, iri);
    const hrefs = (targets: unknown) => (targets as { href: string }[]).map(({ href }) => href);
    expect(hrefs(author)).to.have.members([`${e}1`, `${e}2`, `${e}3`]);
    expect(hrefs(license)).to.deep.equal([`${e}3`]);
  });

  it('managed relations and forbidden types in Link fields are dropped (rule 11.2)', async () => {
    const iri = s.fresh();
    const types = [`${lws}DataResource`, `${lws}Storage`, `${ldp}Resource`, `${ldp}RDFSource`, `${e}Person`];
    const forged = `<${e}f>; rel="up", <${e}f>; rel="linkset", <${e}f>; rel="${lws}storage"`;
    const Link = [...types.map((type) => `<${type}>; rel="type"`), forged, `<${e}d>; rel="describedby"`].join(', ');
    expectApplied(await s.put(iri, 'text/turtle', '<> a <#C> .', { ...set, Link }), 201);
    const plain = await linksOfResource(s, (await s.stored('text/turtle', '<> a <#C> .')).iri);
    const actual = await linksOfResource(s, iri);
    expect(Object.keys(actual)).to.have.members([...managed, 'describedby']);
    for (const name of ['up', `${lws}storage`]) expect(actual[name]).to.deep.equal(plain[name]);
    expect(actual.type.filter(({ href }) => href !== `${e}Person`)).to.deep.equal(plain.type);
    expect(actual.type.map(({ href }) => href)).to.include(`${e}Person`);
  });
}

describeStorage('Links set with a write', (s) => {
  applied(s);

  for (const [what, type, body, headers, status] of [
    ['a stale If-Match', 'text/turtle', '<> a <#D> .', { 'If-Match': '"stale"' }, 412],
    ['a missing If-Match', 'text/turtle', '<> a <#D> .', {}, 428],
    ['a malformed body', 'text/turtle', '<> a', { 'If-Match': '*' }, 400],
    ['a malformed JSON body', 'application/json', '{', { 'If-Match': '*' }, 400],
    [
      'a wrong digest',
      'text/plain',
      'x',
      { 'If-Match': '*', 'Content-Digest': 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:' },
      400,
    ],
    [
      'a type that contradicts the IRI',
      'text/plain',
      'x',
      { 'If-Match': '*', Link: `<${ldp}Container>; rel="type"` },
      400,
    ],
  ] as const)
    it(`${what} is ${status}, and PUT does not change the metadata (rule 6.22)`, async () => {
      const iri = await withOld(s, 'text/turtle', '<> a <#C> .');
      expectProblem(await s.put(iri, type, body, { ...set, Link: links, ...headers }), status, s);
      expect(await clientPart(s, iri)).to.deep.equal(oldPart);
    });

  for (const [what, type, patch, headers, status] of [
    ['a stale If-Match', update, insert, { 'If-Match': '"stale"' }, 412],
    ['a syntax error', update, 'INSERT', {}, 400],
    ['a foreign type', mergePatch, '{}', {}, 415],
  ] as const)
    it(`${what} is ${status}, and PATCH does not change the metadata (rule 6.22)`, async () => {
      const iri = await withOld(s, 'text/turtle', '<> a <#C> .');
      expectProblem(await s.patch(iri, type, patch, { ...set, Link: links, ...headers }), status, s);
      expect(await clientPart(s, iri)).to.deep.equal(oldPart);
    });

  it('an unauthorized caller sets no links (rule 6.22)', async () => {
    const iri = await withOld(s, 'text/turtle', '<> a <#C> .');
    const headers = { ...set, Link: links, 'Content-Type': update };
    expectProblem(await s.send('PATCH', iri, headers, insert, s.stranger), 404, s);
    expect(await clientPart(s, iri)).to.deep.equal(oldPart);
  });
});
