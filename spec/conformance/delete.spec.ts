/** Rules 6.19, 6.20. */
import { expect } from 'chai';
import { describeStorage, type StorageUnderTest } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';

/** A container with one member, and a container with a nested one. */
async function tree(s: StorageUnderTest): Promise<{ container: string; all: string[] }> {
  const container = await s.container();
  const inner = await s.container(`${container}inner/`);
  const { iri: leaf } = await s.stored('text/plain', 'x', `${inner}leaf`);
  const { iri: member } = await s.stored('text/turtle', '<> a <#C> .', `${container}member`);
  return { container, all: [container, inner, leaf, member] };
}

describeStorage('DELETE', (s) => {
  for (const [type, body] of [
    ['text/plain', 'x'],
    ['application/json', '{}'],
    ['text/turtle', '<> a <#C> .'],
  ] as const)
    it(`DELETE, rule 6.19: a ${type} resource is gone after 204, its linkset with it`, async () => {
      const { iri } = await s.stored(type, body);
      expect((await s.get(`${iri}.meta`)).status).to.equal(200);
      const answer = await s.delete(iri);
      expect([answer.status, answer.bytes.length]).to.deep.equal([204, 0]);
      expectProblem(await s.get(iri), 404, s);
      expectProblem(await s.get(`${iri}.meta`), 404, s);
      expect(await s.members(s.scratch)).not.to.include(iri);
    });

  it('a deleted resource is 404, never 410, and its name can be reused (rule 10.2)', async () => {
    const { iri } = await s.stored('text/turtle', '<> a <#Old> .');
    await s.delete(iri);
    expectProblem(await s.delete(iri), 404, s);
    await s.stored('text/turtle', '<> a <#New> .', iri);
    expect((await s.get(iri)).text)
      .to.include('New')
      .and.not.to.include('Old');
  });

  it('DELETE rules: an empty container is deleted without Depth', async () => {
    const container = await s.container();
    expect((await s.delete(container)).status).to.equal(204);
    await s.expectAbsent(container);
    expect(await s.members(s.scratch)).not.to.include(container);
  });

  it('DELETE rules: a container that has become empty is deleted without Depth', async () => {
    const container = await s.container();
    const { iri } = await s.stored('text/plain', 'x', `${container}x`);
    await s.delete(iri);
    expect((await s.delete(container)).status).to.equal(204);
  });

  for (const headers of [{}, { Depth: '0' }, { Depth: '1' }, { Depth: 'infinity, infinity' }, { Depth: 'deep' }])
    it(`DELETE rules: a non-empty container with ${JSON.stringify(headers)} is 409 and deletes nothing`, async () => {
      const { container, all } = await tree(s);
      expectProblem(await s.delete(container, headers), 409, s);
      for (const iri of all) expect((await s.get(iri)).status, iri).to.equal(200);
    });

  it('DELETE rules: Depth: infinity deletes the whole tree', async () => {
    const { container, all } = await tree(s);
    expect((await s.delete(container, { Depth: 'infinity' })).status).to.equal(204);
    for (const iri of all) await s.expectAbsent(iri);
    expect(await s.members(s.scratch)).not.to.include(container);
  });

  it('DELETE rules: a recursive deletion deletes nothing outside of the container', async () => {
    const container = await s.container(s.fresh('x/'));
    const beside = await s.container(`${container.slice(0, -1)}y/`);
    const { iri } = await s.stored('text/plain', 'x', `${container.slice(0, -1)}-z`);
    await s.delete(container, { Depth: 'infinity' });
    expect((await s.get(beside)).status).to.equal(200);
    expect((await s.get(iri)).status).to.equal(200);
  });

  it('DELETE, rule 6.20: the root is 403, also with Depth: infinity', async () => {
    expectProblem(await s.delete(s.root), 403, s);
    expectProblem(await s.delete(s.root, { Depth: 'infinity' }), 403, s);
    expect((await s.get(s.scratch)).status).to.equal(200);
  });

  it('DELETE: a current If-Match deletes', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    expect((await s.delete(iri, { 'If-Match': etag })).status).to.equal(204);
    await s.expectAbsent(iri);
  });

  it('Conditional requests rule 3: a stale If-Match is 412 and deletes nothing', async () => {
    const { iri, etag } = await s.stored('text/plain', 'x');
    await s.put(iri, 'text/plain', 'y', { 'If-Match': etag });
    expectProblem(await s.delete(iri, { 'If-Match': etag }), 412, s);
    expect((await s.get(iri)).text).to.equal('y');
  });

  it('Conditional requests rule 3: a recursive deletion with a stale ETag deletes nothing', async () => {
    const { container, all } = await tree(s);
    expectProblem(await s.delete(container, { Depth: 'infinity', 'If-Match': '"stale"' }), 412, s);
    for (const iri of all) expect((await s.get(iri)).status, iri).to.equal(200);
  });

  it('Conditional requests rule 5: the ETag of a container is stale after a member was added', async () => {
    const { container } = await tree(s);
    const tag = await s.tag(container);
    await s.stored('text/plain', 'late', `${container}late`);
    expectProblem(await s.delete(container, { Depth: 'infinity', 'If-Match': tag }), 412, s);
    expect((await s.get(`${container}late`)).text).to.equal('late');
  });

  it('DELETE: a nonexistent resource or container is 404', async () => {
    expectProblem(await s.delete(s.fresh()), 404, s);
    expectProblem(await s.delete(s.fresh('/'), { Depth: 'infinity' }), 404, s);
  });

  it('DELETE, rule 11.1: a linkset cannot be deleted: 405 with Allow', async () => {
    const { iri } = await s.stored('text/plain', 'x');
    const answer = await s.delete(`${iri}.meta`);
    expectProblem(answer, 405, s);
    expect(answer.headers['allow']).to.match(/GET/);
    expect((await s.get(iri)).status).to.equal(200);
  });
});
