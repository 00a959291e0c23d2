/** Rules 13.7, 16.5: a search sees every previous write. */

import { expect } from 'chai';
import { asContainer, describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { mergePatch, metaOf, putLinks } from '../support/linkset.js';
import { found, indexed, searchOf, uniqueIri } from '../support/search.js';
import { until } from '../support/until.js';

const update = 'application/sparql-update';
const ofType = (s: StorageUnderTest, type: string): Promise<string[]> => found(s, [['type', type]]);
const ifMatch = { 'If-Match': '*' };

function contents(s: StorageUnderTest): void {
  it('creating PUT and POST (rule 13.7)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    expect(await ofType(s, type)).to.deep.equal([iri]);
    const posted = await s.post(s.scratch, 'text/turtle', `<#me> a <${type}> .`);
    const second = new URL(posted.headers['location']!, s.scratch).href;
    expect(await ofType(s, type)).to.have.members([iri, second]);
  });

  it('replacing PUT: the old types and relations are removed (rule 13.7)', async () => {
    const [old, type, key, target] = [uniqueIri(), uniqueIri(), uniqueIri('rel'), uniqueIri()];
    const { iri } = await s.stored('text/turtle', `<> a <${old}> ; <${key}> <${target}> .`);
    await s.put(iri, 'text/turtle', `<> a <${type}> .`, ifMatch);
    expect(await ofType(s, old)).to.deep.equal([]);
    expect(await ofType(s, type)).to.deep.equal([iri]);
    expect(await found(s, [[key, target]])).to.deep.equal([]);
  });

  it('PATCH that adds and removes (rule 13.7)', async () => {
    const [old, type, key, target] = [uniqueIri(), uniqueIri(), uniqueIri('rel'), uniqueIri()];
    const { iri } = await s.stored('text/turtle', `<> a <${old}> .`);
    const patch = `DELETE DATA { <> a <${old}> } ; INSERT DATA { <#me> a <${type}> ; <${key}> <${target}> }`;
    expect((await s.patch(iri, update, patch)).status).to.equal(204);
    expect([await ofType(s, old), await ofType(s, type)]).to.deep.equal([[], [iri]]);
    expect(await found(s, [[key, target]])).to.deep.equal([iri]);
    await s.patch(iri, update, 'DELETE WHERE { ?s ?p ?o }');
    expect(await ofType(s, type)).to.deep.equal([]);
    expect(await found(s, [[key, target]])).to.deep.equal([]);
  });

  it('a type asserted twice remains until both are removed (rule 13.7)', async () => {
    const type = uniqueIri();
    const { iri } = await s.stored('text/turtle', `<> a <${type}> . <#me> a <${type}> .`);
    await putLinks(s, iri, { type: [{ href: type }] });
    await s.patch(iri, update, `DELETE DATA { <> a <${type}> }`);
    expect(await ofType(s, type)).to.deep.equal([iri]);
    await s.patch(iri, update, `DELETE DATA { <#me> a <${type}> }`);
    expect(await ofType(s, type)).to.deep.equal([iri]);
    await putLinks(s, iri, {});
    expect(await ofType(s, type)).to.deep.equal([]);
  });

  it('RDF replaced by a binary or JSON, and by RDF again (rule 13.7)', async () => {
    const [type, declared] = [uniqueIri(), uniqueIri()];
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    await putLinks(s, iri, { type: [{ href: declared }] });
    for (const other of ['text/plain', 'application/json']) {
      await s.put(iri, other, '{}', ifMatch);
      expect([await ofType(s, type), await ofType(s, declared)], other).to.deep.equal([[], [iri]]);
      await s.put(iri, 'text/turtle', `<> a <${type}> .`, ifMatch);
      expect([await ofType(s, type), await ofType(s, declared)], other).to.deep.equal([[iri], [iri]]);
    }
  });

  it('a rejected write changes nothing (rule 13.7)', async () => {
    const [type, other] = [uniqueIri(), uniqueIri()];
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    await s.put(iri, 'text/turtle', `<> a <${other}> .`, { 'If-Match': '"stale"' });
    await s.put(iri, 'text/turtle', `<> a <${other}> . <`, ifMatch);
    await putLinks(s, iri, { type: [{ href: other }, { href: 'relative' }] });
    await s.post(`${s.scratch}absent/`, 'text/turtle', `<> a <${other}> .`);
    expect([await ofType(s, type), await ofType(s, other)]).to.deep.equal([[iri], []]);
  });
}

function links(s: StorageUnderTest): void {
  it('writes of the linkset (rule 13.7)', async () => {
    const [type, key, target] = [uniqueIri(), uniqueIri('rel'), uniqueIri()];
    const { iri } = await s.stored('text/plain', 'x');
    await putLinks(s, iri, { type: [{ href: type }], describedby: [{ href: target }] });
    expect(await ofType(s, type)).to.deep.equal([iri]);
    expect(await found(s, [['describedby', target]])).to.deep.equal([iri]);
    const patch = JSON.stringify({ type: null, describedby: null, [key]: [{ href: target }] });
    expect((await s.patch(metaOf(iri), mergePatch, patch, ifMatch)).status).to.equal(204);
    expect(await ofType(s, type)).to.deep.equal([]);
    expect(await found(s, [['describedby', target]])).to.deep.equal([]);
    expect(await found(s, [[key, target]])).to.deep.equal([iri]);
  });

  it('links of a creating POST, and of a PUT and a PATCH with set-linkset (rule 13.7)', async () => {
    const [type, second, target] = [uniqueIri(), uniqueIri(), uniqueIri()];
    const Link = `${asContainer.Link}, <${type}>; rel="type", <${target}>; rel="describedby"`;
    const posted = await s.send('POST', s.scratch, { Link });
    const container = new URL(posted.headers['location']!, s.scratch).href;
    expect(await ofType(s, type)).to.deep.equal([container]);
    expect(await found(s, [['describedby', target]])).to.deep.equal([container]);
    const set = { Prefer: 'set-linkset', Link: `<${second}>; rel="type"` };
    const { iri } = await s.stored('text/turtle', '<> a <#C> .');
    await s.put(iri, 'text/turtle', '<> a <#D> .', { ...set, ...ifMatch });
    expect(await ofType(s, second)).to.deep.equal([iri]);
    const other = await s.stored('text/turtle', '<> a <#C> .');
    await s.patch(other.iri, update, 'INSERT DATA { <> a <#D> }', set);
    expect(await ofType(s, second)).to.have.members([iri, other.iri]);
  });

  it('the root is found by its declarations (rule 13.7)', async () => {
    const type = uniqueIri();
    const read = await s.get(metaOf(s.root));
    await putLinks(s, s.root, { type: [{ href: type }] });
    expect(await ofType(s, type)).to.deep.equal([s.root]);
    await s.put(metaOf(s.root), 'application/linkset+json', read.text, ifMatch);
    expect(await ofType(s, type)).to.deep.equal([]);
  });
}

function deletions(s: StorageUnderTest): void {
  it('DELETE, and a new resource of the same name (rule 13.7)', async () => {
    const [type, declared] = [uniqueIri(), uniqueIri()];
    const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
    await putLinks(s, iri, { type: [{ href: declared }] });
    expect((await s.delete(iri)).status).to.equal(204);
    expect([await ofType(s, type), await ofType(s, declared)]).to.deep.equal([[], []]);
    await s.stored('text/plain', 'x', iri);
    expect([await ofType(s, type), await ofType(s, declared)]).to.deep.equal([[], []]);
  });

  it('a recursive DELETE removes all descendants (rule 13.7)', async () => {
    const [type, key, target] = [uniqueIri(), uniqueIri('rel'), uniqueIri()];
    const container = await s.container();
    await s.container(`${container}sub/`);
    for (const path of ['a', 'sub/b'])
      await s.stored('text/turtle', `<> a <${type}> ; <${key}> <${target}> .`, container + path);
    await s.stored('text/plain', 'x', `${container}c`);
    for (const path of ['', 'sub/', 'c']) await putLinks(s, container + path, { type: [{ href: type }] });
    expect(await ofType(s, type)).to.have.length(5);
    expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(204);
    expect(await ofType(s, type)).to.deep.equal([]);
    expect(await found(s, [[key, target]])).to.deep.equal([]);
    expect(await found(s, [['type', `${lws}Container`]])).not.to.include(container);
    expect((await found(s, [])).filter((iri) => iri.startsWith(container))).to.deep.equal([]);
  });

  it('concurrent writes are all visible (rule 13.7)', async () => {
    const type = uniqueIri();
    const container = await s.container();
    const iris = Array.from({ length: 20 }, (_, i) => `${container}n${i}`);
    await Promise.all(iris.map((iri) => s.stored('text/turtle', `<> a <${type}> .`, iri)));
    expect(await ofType(s, type)).to.have.members(iris);
    await Promise.all(iris.slice(5).map((iri) => s.delete(iri)));
    expect(await ofType(s, type)).to.have.members(iris.slice(0, 5));
  });
}

describeStorage('Type search after writes', (s) => {
  contents(s);
  links(s);
  deletions(s);
});

describeStorage(
  'Type search after restarts',
  (s) => {
    it('data written before a restart is found after it (rule 13.7)', async () => {
      const [type, declared] = [uniqueIri(), uniqueIri()];
      const { iri } = await s.stored('text/turtle', `<> a <${type}> .`);
      await putLinks(s, iri, { type: [{ href: declared }] });
      await s.restart({ settings: { 'public-read': 'true' } });
      expect([await ofType(s, type), await ofType(s, declared)]).to.deep.equal([[iri], [iri]]);
      expect(await indexed(s)).to.include.members([type, declared]);
    });

    it('data written while the index was disabled is found when it is enabled again (rule 13.7)', async () => {
      const [kept, gone, made, declared] = [uniqueIri('kept'), uniqueIri('gone'), uniqueIri('made'), uniqueIri()];
      const before = await s.stored('text/turtle', `<> a <${kept}>, <${gone}> .`);
      await s.restart({ settings: { 'search-index.enabled': 'false' } });
      expect((await s.get(searchOf(s))).status).to.equal(404);
      await s.put(before.iri, 'text/turtle', `<> a <${kept}> .`, ifMatch);
      const after = await s.stored('text/turtle', `<> a <${made}> .`);
      await putLinks(s, after.iri, { type: [{ href: declared }] });
      await s.restart({ settings: { 'public-read': 'true' } });
      // Membership may be eventually consistent, and the index must converge.
      await until(async () => (await ofType(s, declared)).length > 0);
      expect([await ofType(s, kept), await ofType(s, gone)]).to.deep.equal([[before.iri], []]);
      expect([await ofType(s, made), await ofType(s, declared)]).to.deep.equal([[after.iri], [after.iri]]);
    });
  },
  { settings: { 'public-read': 'true' } },
);
