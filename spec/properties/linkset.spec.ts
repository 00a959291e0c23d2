/**
 * Linksets against a model: reads return the server's relations and the client-managed part of earlier writes. Independent of how
 * links are stored.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { create } from '../../lib/resources/create.js';
import { patch } from '../../lib/resources/patch.js';
import { formatLink, parseLinks } from '../../lib/tools/fields/link.js';
import { root } from '../support/memory-store.js';
import { startSpecServer } from '../support/server.js';
import { enough, runs } from '../support/speed.js';
import { body } from '../support/storage.js';
import * as documents from './linkset-documents.js';
import {
  contents,
  documentText,
  expected,
  expectOutcome,
  kinds,
  Linksets,
  linksetJson,
  mergePatch,
  outcome,
  type Seen,
} from './linkset-harness.js';
import * as model from './linkset-model.js';

/** Asserts that the server-managed members come first, in order. Integer names are tested separately. */
function expectOrder(described: model.Described, { text, document: { linkset } }: Seen): void {
  if (Object.keys(linkset[0]).some((name) => /^\d+$/.test(name))) return;
  const [, ...declared] = linkset[0]['type'] as readonly model.Json[];
  const server = JSON.stringify({ linkset: [model.serverPart(described, declared)] }).slice(0, -3);
  expect(text.slice(0, server.length)).to.equal(server);
}

describe('Linksets against a model', function () {
  this.timeout(60_000);
  let linksets: Linksets;
  before(async () => {
    linksets = await Linksets.open();
  });
  after(() => linksets.close());

  it('return the client-managed part of a PUT, and accept the returned document unchanged', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(kinds, fc.array(documents.anyMembers, { minLength: 1, maxLength: 3 }), async (kind, sent) => {
        const described = await linksets.resource(kind);
        for (const members of sent) {
          const before = linksets.read(described);
          const text = documentText(members);
          const wanted = expected(described, () => model.clientPartOfDocument(JSON.parse(text), described));
          const answer = await linksets.write(described, text, linksetJson, before.tag);
          const after = linksets.read(described);
          expectOutcome(answer, wanted, before, after, text);
          expectOrder(described, after);
          if (answer !== 'ok') refused++;
          const record = linksets.record(described);
          expect(await linksets.write(described, after.text, linksetJson, after.tag)).to.equal('ok');
          expect(linksets.read(described)).to.deep.equal(after);
          expect(linksets.record(described), 'written back').to.equal(record);
        }
      }),
      { numRuns: runs(400) },
    );
    expect(refused, 'refusals').to.be.within(enough(30), 400);
  });

  it('are set by Link fields of POST, and of PUT and PATCH with set-linkset', async () => {
    const how = fc.constantFrom('POST', 'PUT', 'PATCH');
    const kind = fc.constantFrom('rdf', 'json');
    await fc.assert(
      fc.asyncProperty(
        how,
        kind,
        documents.goodMembers,
        documents.headerLinks,
        async (method, what, members, links) => {
          const old = await linksets.start(what, members);
          const [before, kept] = [linksets.read(old), method === 'PATCH' ? linksets.client(old) : {}];
          const { answer, iri } = await sendLinks(linksets, method, what, old.iri, links);
          const described = { ...old, iri };
          const wanted = expected(described, () => {
            const given = model.clientPart(model.objectOf(links, iri), described);
            const named = new Set(Object.keys(given).map(model.lowered));
            const rest = Object.entries(kept).filter(([name]) => !named.has(model.lowered(name)));
            return Object.fromEntries([...rest, ...Object.entries(given)]);
          });
          const why = `${before.text} after ${method} with ${JSON.stringify(links)}`;
          expectOutcome(answer, wanted, before, linksets.read(described), why);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('contain the relations selected by Prefer, and always the anchor', async () => {
    const server = await startSpecServer({ settings: { 'dev.open': 'true' } });
    const iri = `${server.root}r`;
    await fetch(iri, { method: 'PUT', body: 'x' });
    const read = async (prefer: string) => {
      const headers: Record<string, string> = prefer === '' ? {} : { Prefer: prefer };
      const answer = await fetch(`${iri}.meta`, { headers });
      // fetch() sends Accept-Encoding.
      expect([answer.status, answer.headers.get('Vary')]).to.deep.equal([200, 'Prefer, Accept-Encoding']);
      expect(answer.headers.get('Preference-Applied') ?? '').to.equal(prefer);
      return { tag: answer.headers.get('ETag'), links: JSON.parse(await answer.text()).linkset[0] as model.JsonObject };
    };
    const names = fc.option(fc.uniqueArray(documents.askable, { maxLength: 5 }));
    try {
      await fc.assert(
        fc.asyncProperty(documents.goodMembers, names, names, async (members, include, omit) => {
          const headers = { 'Content-Type': linksetJson, 'If-Match': '*' };
          await fetch(`${iri}.meta`, { method: 'PUT', headers, body: documentText(members) });
          const whole = await read('');
          const asked = Object.entries({ include, omit }).flatMap(([preference, list]) =>
            list ? [`${preference}="${list.join(' ').replace(/["\\]/g, '\\$&')}"`] : [],
          );
          const view = await read(asked.join(', '));
          const has = (list: readonly string[], name: string): boolean =>
            list.map(model.lowered).includes(model.lowered(name));
          const shown = Object.entries(whole.links).filter(
            ([name]) => name === 'anchor' || ((!include || has(include, name)) && !(omit && has(omit, name))),
          );
          expect(model.canonical(view.links)).to.equal(model.canonical(Object.fromEntries(shown)));
          expect(Object.keys(view.links)).to.deep.equal(
            Object.keys(whole.links).filter((name) => Object.hasOwn(view.links, name)),
          );
          expect(view.tag === whole.tag).to.equal(asked.length === 0);
        }),
        { numRuns: runs(150) },
      );
    } finally {
      await server.stop();
    }
  });

  it('have the anchor before all other members, including integer names (rule 11.1)', async () => {
    const described = await linksets.resource('binary');
    // Such a name may be rejected.
    await linksets.write(described, '{"linkset":[{"17":"Ada"}]}', linksetJson);
    expect(linksets.read(described).text).to.match(/^\{"linkset":\[\{"anchor":/);
  });

  it('can be written back at the maximum nesting depth of a patch', async () => {
    const described = await linksets.resource('binary');
    const deep = (levels: number): string => `{"author":${'['.repeat(levels)}${']'.repeat(levels)}}`;
    let levels = 70;
    while ((await linksets.write(described, deep(levels), mergePatch)) !== 'ok') levels--;
    expect(levels).to.be.above(enough(50));
    expect(await linksets.write(described, linksets.read(described).text, linksetJson)).to.equal('ok');
  });
});

describe('Linksets of maximum size', () => {
  const limit = 2000;
  let linksets: Linksets;
  before(async () => {
    linksets = await Linksets.open({ linksetBytes: limit });
  });
  after(() => linksets.close());

  it('can be written back, and cannot be exceeded by any request', async () => {
    const change = fc.tuple(
      fc.constantFrom('a', 'b', 'c'),
      fc.nat(limit + 50),
      fc.constantFrom(linksetJson, mergePatch),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 4 }), async (changes) => {
        const described = await linksets.resource('binary');
        for (const [name, length, type] of changes) {
          const object = JSON.stringify({ [name]: 'x'.repeat(length) });
          const answer = await linksets.write(
            described,
            type === linksetJson ? `{"linkset":[${object}]}` : object,
            type,
          );
          const kept = JSON.stringify(linksets.client(described)).length;
          expect(kept, 'kept').to.be.at.most(limit);
          if (answer !== 'ok') expect([answer, length + kept > limit - 500]).to.deep.equal(['linkset-too-large', true]);
          expect(await linksets.write(described, linksets.read(described).text, linksetJson), `${kept}`).to.equal('ok');
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

/** Sends Link fields with a request that may change the content. */
async function sendLinks(
  linksets: Linksets,
  method: 'POST' | 'PUT' | 'PATCH',
  kind: string,
  iri: string,
  links: readonly model.HeaderLink[],
): Promise<{ answer: string; iri: string }> {
  const field = links.map(({ target, relation, attributes }) => formatLink(target, relation, attributes)).join();
  const request = { iri, access: {}, preconditions: {}, model: undefined, links: parseLinks(field)! };
  if (method === 'POST') {
    const made = await create(linksets.spec.storage, {
      ...request,
      iri: root,
      slug: undefined,
      body: body(...contents[kind]!),
    });
    return { answer: 'ok', iri: made.record.iri };
  }
  const value = links.length % 2;
  const change: [string, string] =
    kind === 'rdf'
      ? [`INSERT DATA { <> <#p> ${value} }`, 'application/sparql-update']
      : [value === 0 ? '{}' : '{"a":1}', mergePatch];
  if (method === 'PATCH')
    return { answer: await outcome(patch(linksets.spec.storage, { ...request, body: body(...change) })), iri };
  return { answer: await outcome(linksets.put(iri, kind, { ...request, preconditions: { ifMatch: '*' } })), iri };
}
