/** Rule 11.9, RFC 7240: filtered views of a linkset. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { described, linksIn, managed, metaOf } from '../support/linkset.js';

const rel = 'https://e.example/rel';
const full = {
  author: 'Ada',
  describedby: [{ href: 'https://e.example/d', title: 'About' }],
  license: [{ href: 'https://e.example/l' }],
  [rel]: [{ href: 'https://e.example/t' }],
  type: [{ href: 'https://e.example/Person' }],
};
const all = [...managed, 'author', 'describedby', 'license', rel];
const without = (...names: string[]): string[] => all.filter((name) => !names.includes(name));

/** Relations of the linkset above that remain with each preference. */
const views: readonly (readonly [prefer: string, members: readonly string[]])[] = [
  ['include="describedby"', ['anchor', 'describedby']],
  ['include="describedby license"', ['anchor', 'describedby', 'license']],
  ['include=describedby', ['anchor', 'describedby']],
  ['include="author"', ['anchor', 'author']],
  ['include="up"', ['anchor', 'up']],
  ['include="type linkset"', ['anchor', 'type', 'linkset']],
  [`include="${lws}storage"`, ['anchor', `${lws}storage`]],
  [`include="${rel} up"`, ['anchor', rel, 'up']],
  ['include="nothing"', ['anchor']],
  ['respond-async, include="license"', ['anchor', 'license']],
  ['omit="describedby"', without('describedby')],
  ['omit="describedby license type"', without('describedby', 'license', 'type')],
  [`omit="${rel} ${lws}storage up"`, without(rel, `${lws}storage`, 'up')],
  ['omit="nothing"', all],
  ['omit="anchor up"', without('up')],
];

describeStorage('Linkset preferences', (s: StorageUnderTest) => {
  let meta = '';
  before(async () => {
    meta = metaOf(await described(s, full));
  });

  for (const [prefer, members] of views) {
    const name = prefer.includes('include') ? 'include' : 'omit';

    it(`Prefer: ${prefer} returns those relations and the anchor (rule 11.9)`, async () => {
      const [whole, answer] = [linksIn(await s.get(meta)), await s.get(meta, { Prefer: prefer })];
      const links = linksIn(answer);
      expect(Object.keys(links)).to.have.members([...members]);
      for (const member of members) expect(links[member], member).to.deep.equal(whole[member]);
    });

    it(`Prefer: ${prefer} is acknowledged, with HEAD as with GET (rule 11.9)`, async () => {
      const [get, head] = [await s.get(meta, { Prefer: prefer }), await s.head(meta, { Prefer: prefer })];
      expect(get.headers['preference-applied']).to.match(new RegExp(`^${name}\\b`));
      expect([head.status, head.bytes.length]).to.deep.equal([200, 0]);
      for (const field of ['preference-applied', 'etag', 'vary', 'content-type'])
        expect(head.headers[field], field).to.equal(get.headers[field]);
    });
  }

  it('a filtered view has its own ETag and Vary: Prefer (rule 11.9)', async () => {
    const whole = await s.tag(meta);
    const tags = new Set([whole]);
    for (const Prefer of ['include="describedby"', 'include="license"', 'omit="describedby"', 'omit="license"']) {
      const { headers } = await s.get(meta, { Prefer });
      expect(headers['vary']).to.match(/(?:^|,)\s*prefer\s*(?:,|$)/i);
      tags.add(headers['etag']!);
    }
    expect(tags.size).to.equal(5);
  });

  it('If-None-Match is per view (rules 8.3, 11.9)', async () => {
    const Prefer = 'include="describedby"';
    const [whole, own] = [await s.tag(meta), await s.tag(meta, { Prefer })];
    const answer = await s.get(meta, { Prefer, 'If-None-Match': own });
    expect([answer.status, answer.bytes.length, answer.headers['etag']]).to.deep.equal([304, 0, own]);
    expect((await s.get(meta, { Prefer, 'If-None-Match': whole })).status).to.equal(200);
    expect((await s.get(meta, { 'If-None-Match': own })).status).to.equal(200);
  });

  it('the ETag of a view changes with its content (rule 8.1)', async () => {
    const own = metaOf(await described(s, full));
    const Prefer = 'include="author"';
    const before = await s.tag(own, { Prefer });
    await s.patch(own, 'application/merge-patch+json', '{"author":"Eve"}', { 'If-Match': '*' });
    const answer = await s.get(own, { Prefer, 'If-None-Match': before });
    expect(linksIn(answer)).to.include({ author: 'Eve' });
  });

  it('nothing is acknowledged without a preference for relations (rule 11.9)', async () => {
    for (const headers of [{}, { Prefer: 'return=minimal' }, { Prefer: 'respond-async' }]) {
      const answer = await s.get(meta, headers);
      expect(Object.keys(linksIn(answer))).to.have.members(all);
      expect(answer.headers).not.to.have.property('preference-applied');
    }
  });

  it('a preference for relations has no effect on other resources (rule 11.9)', async () => {
    const answer = await s.get(meta.slice(0, -'.meta'.length), { Prefer: 'include="up"' });
    expect([answer.status, answer.text]).to.deep.equal([200, 'x']);
    expect(answer.headers).not.to.have.property('preference-applied');
  });

  for (const prefer of [
    'include',
    'include=""',
    'omit=',
    'include="',
    ';;;',
    ',',
    'include="\\"',
    `omit="${' '.repeat(99)}"`,
  ])
    it(`RFC 7240 section 2: an invalid Prefer: ${prefer.trim().slice(0, 20)} is ignored`, async () => {
      const answer = await s.get(meta, { Prefer: prefer });
      expect(answer.status, answer.text).to.equal(200);
      expect(linksIn(answer).anchor).to.equal(meta.slice(0, -'.meta'.length));
    });
});
