/** Rule 4.3 with Web Access Control: listings, indexes, searches, ETags and dates do not reveal unreadable resources. */
import { expect } from 'chai';
import { describeStorage, lws, type Sender } from '../support/conformance.js';
import { expectProblem } from '../support/expectations.js';
import { putLinks } from '../support/linkset.js';
import { visible } from '../support/masking.js';
import { rdfTypes } from '../support/rdf.js';
import { found, indexed, searchFor, uniqueIri } from '../support/search.js';
import {
  aclOf,
  agent,
  alice,
  anybody,
  as,
  inWac,
  modesOf,
  ownerRule,
  rule,
  setAcl,
  setBareAcl,
} from '../support/wac.js';

const turtle = 'text/turtle';
const tick = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1100));

describeStorage(
  'Views with WAC',
  (s) => {
    const get = (iri: string, headers: Record<string, string> = {}, who: Sender = s.stranger) =>
      s.send('GET', iri, headers, undefined, who);
    /** Publicly readable container with private new members. */
    const shutInside = async (...rules: string[]): Promise<string> => {
      const container = await s.container();
      await setAcl(s, container, rule('Read', anybody, 'accessTo'), ...rules);
      return container;
    };
    /** Publicly readable member. */
    const shown = async (iri: string): Promise<string> => {
      if (iri.endsWith('/')) await s.container(iri);
      else await s.stored(turtle, '<> a <#C> .', iri);
      await setAcl(s, iri, rule('Read', anybody, 'accessTo'));
      return iri;
    };
    /** Complete views of a caller. */
    const see = async (...iris: string[]): Promise<unknown[]> => {
      const seen: unknown[] = [];
      for (const iri of iris)
        for (const Accept of ['application/lws+json', 'application/ld+json', ...rdfTypes])
          for (const who of [s.stranger, 'anonymous'] as const) seen.push(visible(await get(iri, { Accept }, who)));
      return seen;
    };

    it('Container listing: it shows and counts only readable members', async () => {
      const c = await shutInside();
      const shownOnes = [await shown(`${c}b`), await shown(`${c}d/`)];
      await s.stored(turtle, '', `${c}secret1`);
      await s.container(`${c}secret2/`);
      const { items, totalItems } = JSON.parse((await get(c)).text);
      expect(items.map(({ id }: { id: string }) => id)).to.deep.equal(shownOnes);
      expect(totalItems).to.equal(2);
      for (const Accept of rdfTypes) {
        const { text } = await get(c, { Accept });
        expect(text).not.to.include('secret');
      }
      expect(JSON.parse((await s.get(c)).text).totalItems).to.equal(4);
    });

    it('shows each caller the current state of its members, whatever others have read before (rule 9.3)', async () => {
      const c = await s.container();
      await setAcl(s, c, ownerRule, rule('Read', anybody));
      // Listings of more members are cached.
      for (let at = 0; at < 60; at++) await s.stored('text/plain', String(at), `${c}r${at}`);
      await setAcl(s, `${c}r7`, ownerRule, rule('Read', agent(alice)));
      const texts = async (who: Sender): Promise<string> => {
        const both: string[] = [];
        for (const Accept of ['application/lws+json', turtle]) both.push((await get(c, { Accept }, who)).text);
        return both.join();
      };
      const count = (text: string): unknown => [text.includes(`"totalItems":${60}`), text.includes('r7')];
      for (let times = 0; times < 2; times++) {
        expect(count(await texts('anonymous'))).to.deep.equal([false, false]);
        expect(count(await texts(as(s, alice)))).to.deep.equal([true, true]);
      }
      const type = uniqueIri();
      await putLinks(s, `${c}r8`, { type: [{ href: type }] });
      expect((await texts('anonymous')).split(type).length).to.be.above(2);
      await s.put(`${c}r9`, 'text/plain', 'x'.repeat(4321), { 'If-Match': '*' });
      expect(await texts('anonymous')).to.include('4321');
      const own = uniqueIri();
      await putLinks(s, c, { type: [{ href: own }] });
      const { headers } = await get(c, {}, 'anonymous');
      expect(String(headers['link'])).to.include(own);
      await s.delete(`${c}r10`);
      expect(await texts('anonymous')).not.to.include('r10"');
      await s.delete(aclOf(`${c}r7`));
      expect(count(await texts('anonymous'))).to.deep.equal([false, true]);
    });

    it('Masking, rule 4.3: creating, changing and deleting unreadable members does not affect the view of a container', async () => {
      const c = await shutInside();
      await shown(`${c}shown`);
      const before = await see(c, `${c}.meta`, `${c}shown`, s.scratch);
      await tick();
      await s.stored(turtle, '', `${c}hidden`);
      expect(await see(c, `${c}.meta`, `${c}shown`, s.scratch)).to.deep.equal(before);
      await s.put(`${c}hidden`, turtle, '<> a <#D> .', { 'If-Match': '*' });
      await putLinks(s, `${c}hidden`, { type: [{ href: uniqueIri() }] });
      expect(await see(c)).to.deep.equal(before.slice(0, 2 * (2 + rdfTypes.length)));
      await s.delete(`${c}hidden`);
      expect(await see(c)).to.deep.equal(before.slice(0, 2 * (2 + rdfTypes.length)));
    });

    it('Masking, rule 4.3: the listing of the parent container and searches do not change either', async () => {
      const outer = await s.container();
      await setAcl(s, outer, rule('Read', anybody, 'accessTo'));
      const inner = await shown(`${outer}inner/`);
      const search = searchFor(s, [['type', `${lws}Container`]]);
      const lists = async () => [...(await see(outer)), visible(await get(search))];
      const before = await lists();
      await tick();
      await s.stored(turtle, '', `${inner}hidden`);
      expect(await lists()).to.deep.equal(before);
    });

    it('Masking, rules 4.3, 8.5: the date of a filtered view is constant and not used in conditions', async () => {
      const c = await shutInside();
      const date = async (): Promise<string> => (await get(c)).headers['last-modified']!;
      const seen = await date();
      const answers = async (): Promise<number[]> => [
        (await get(c, { 'If-Unmodified-Since': seen })).status,
        (await get(c, { 'If-Modified-Since': seen })).status,
      ];
      const before = await answers();
      expect(before).to.deep.equal([412, 200]);
      await tick();
      await s.stored(turtle, '', `${c}hidden`);
      expect(await answers()).to.deep.equal(before);
      await s.stored(turtle, '', `${c}seen`);
      await setAcl(s, `${c}seen`, rule('Read', anybody));
      await tick();
      await s.delete(`${c}seen`);
      expect(await date()).to.equal(seen);
    });

    it('Masking, rule 4.3: the form of an ETag does not reveal unreadable members', async () => {
      const make = async (hides: boolean): Promise<string> => {
        const c = await s.container();
        await setAcl(s, c, rule('Read', anybody));
        await s.stored(turtle, '', `${c}x`);
        if (hides) {
          await s.stored(turtle, '', `${c}hidden`);
          await setBareAcl(s, `${c}hidden`, [ownerRule]);
        }
        return c;
      };
      const form = async (c: string, Accept: string): Promise<string> =>
        ((await get(c, { Accept })).headers['etag'] ?? '').replace(/[A-Za-z0-9_]/g, '-').replace(/\.-*/, '.');
      const [open, hiding] = [await make(false), await make(true)];
      for (const Accept of ['application/lws+json', turtle])
        expect(await form(hiding, Accept), Accept).to.equal(await form(open, Accept));
    });

    it('the ETag of a filtered view satisfies If-Match on the container (rule 8.4)', async () => {
      const c = await shutInside();
      await setAcl(s, c, rule('Read Write', agent(alice), 'accessTo'), rule('Write', agent(alice), 'default'));
      await s.stored(turtle, '', `${c}hidden`);
      for (const Accept of ['application/lws+json', turtle]) {
        const tag = (await get(c, { Accept }, as(s, alice))).headers['etag']!;
        const remove = (etag: string) => s.send('DELETE', c, { 'If-Match': etag }, undefined, as(s, alice));
        expect((await remove('"stale"')).status).to.equal(412);
        // The container is not empty, even if her view of it is.
        expect((await remove(tag)).status).to.equal(409);
      }
      const tag = (await get(c, {}, as(s, alice))).headers['etag']!;
      const headers = { Depth: 'infinity', 'If-Match': tag };
      expect((await s.send('DELETE', c, headers, undefined, as(s, alice))).status).to.equal(204);
    });

    it('Masking, rule 4.5: a recursive DELETE with an unreadable descendant is 403 without names', async () => {
      const c = await s.container();
      await setAcl(s, c, rule('Read Write', agent(alice)));
      await s.container(`${c}d/`);
      await s.stored(turtle, '', `${c}d/secretly`);
      await setBareAcl(s, `${c}d/secretly`, [ownerRule]);
      const answer = await s.send('DELETE', c, { Depth: 'infinity' }, undefined, as(s, alice));
      expectProblem(answer, 403, s);
      expect(JSON.stringify(answer.headers) + answer.text)
        .not.to.include('secretly')
        .and.not.include('d/');
      expect(await s.members(`${c}d/`)).to.have.length(1);
    });

    it('Masking, rule 4.3: callers without control cannot tell if a resource has its own ACL', async () => {
      const c = await s.container();
      await setAcl(s, c, rule('Read', anybody));
      for (const path of ['ownacls', 'without']) await s.stored(turtle, '<> a <#C> .', c + path);
      await setAcl(s, `${c}ownacls`, rule('Read', anybody));
      for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'POST', 'PATCH'])
        for (const headers of [{}, { 'If-Match': '*' }, { 'If-None-Match': '*' }])
          for (const who of [s.stranger, 'anonymous'] as const) {
            const at = async (name: string) => {
              const fields = { 'Content-Type': turtle, ...headers };
              const body = method === 'PUT' ? '' : undefined;
              return visible(await s.send(method, `${c + name}.acl`, fields, body, who), name);
            };
            expect(await at('ownacls'), method).to.deep.equal(await at('without'));
          }
    });

    it('Masking, rule 4.3: write responses to callers without read access do not reveal the previous state', async () => {
      const { iri } = await s.stored(turtle, '<> a <#C> .');
      const type = uniqueIri('secret');
      await putLinks(s, iri, { type: [{ href: type }] });
      await setAcl(s, iri, rule('Write', agent(alice)));
      for (const answer of [
        await s.send('PATCH', iri, { 'Content-Type': 'application/sparql-update' }, 'INSERT DATA {}', as(s, alice)),
        await s.send('PUT', iri, { 'Content-Type': turtle, 'If-Match': '*' }, '', as(s, alice)),
      ]) {
        expect(answer.status).to.equal(204);
        expect(JSON.stringify(answer.headers) + answer.text).not.to.include(type);
      }
    });

    it('index and search cover the readable resources, by the ACLs of every level (rule 13.2)', async () => {
      const c = await s.container();
      const [type, secret] = [uniqueIri('open'), uniqueIri('secret')];
      await setAcl(s, c, rule('Read', agent(alice)));
      for (const path of ['a', 'd/', 'd/b', 'd/e/', 'd/e/f', 'd-g', 'd0'])
        if (path.endsWith('/')) await s.container(c + path);
        else await s.stored(turtle, `<> a <${type}>, <${path.startsWith('d/') ? secret : type}> .`, c + path);
      const find = (filter = type) => found(s, [['type', filter]], as(s, alice));
      const at = (...paths: string[]) => paths.map((path) => c + path);
      expect(await find()).to.deep.equal(at('a', 'd-g', 'd/b', 'd/e/f', 'd0'));
      await setAcl(s, `${c}d/`, rule('Read', agent(alice), 'accessTo'));
      expect(await find()).to.deep.equal(at('a', 'd-g', 'd0'));
      expect(await indexed(s, as(s, alice)))
        .to.include(type)
        .and.not.include(secret);
      expect(await find(`${lws}Container`))
        .to.include.members(at('', 'd/'))
        .and.not.include(`${c}d/e/`);
      await setAcl(s, `${c}d/e/f`, rule('Read', agent(alice)));
      expect(await find()).to.deep.equal(at('a', 'd-g', 'd/e/f', 'd0'));
      expect(await indexed(s, as(s, alice))).to.include.members([type, secret]);
      await setAcl(s, c);
      expect(await find()).to.deep.equal(at('d/e/f'));
      for (const who of [s.stranger, 'anonymous'] as const) {
        expect(await found(s, [['type', type]], who)).to.deep.equal([]);
        expect(await indexed(s, who)).not.to.include.oneOf([type, secret]);
      }
    });

    it('WAC, rule 3.4: an ACL with only unrelated authorizations is not empty: it denies all access', async () => {
      const c = await s.container();
      await setAcl(s, c, rule('Read', anybody));
      await s.stored(turtle, '', `${c}x`);
      const mistyped = ownerRule.replaceAll('<>', '<other>');
      await setBareAcl(s, `${c}x`, [mistyped]);
      expect(await modesOf(s, `${c}x`, 'anonymous')).to.equal('');
      expect(await modesOf(s, `${c}x`, as(s, alice))).to.equal('');
    });
  },
  inWac(),
);

describeStorage(
  'Paged views',
  (s) => {
    it('unreadable members create no pages, and page links omit them (rule 9.3)', async () => {
      const c = await s.container();
      await setAcl(s, c, rule('Read', anybody, 'accessTo'));
      for (let i = 0; i < 7; i++) {
        await s.stored(turtle, '', `${c}m${i}`);
        if (i % 3 === 0) await setAcl(s, `${c}m${i}`, rule('Read', anybody));
      }
      const page = (n: number) => s.send('GET', `${c}?page=${n}`, {}, undefined, s.stranger);
      const ids = async (n: number) =>
        (JSON.parse((await page(n)).text).items as { id: string }[]).map(({ id }) => id.replace(c, ''));
      expect([await ids(1), await ids(2)]).to.deep.equal([['m0', 'm3'], ['m6']]);
      expectProblem(await page(3), 404, s);
      expect((await page(3)).text).to.not.match(/\b[47] pages/);
    });
  },
  inWac({ 'container.page-size': '2' }),
);
