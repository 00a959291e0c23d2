/** Rule 17.5: constraints of grants. All MUST hold. A constraint that cannot be evaluated does not hold. */
import { expect } from 'chai';
import { describeStorage, lws, type StorageUnderTest } from '../support/conformance.js';
import { type Constraint, constraint, grant, policy, publicAgentIri, revoke } from '../support/grants.js';
import { metaOf, putLinks } from '../support/linkset.js';
import { TrustedIssuer } from '../support/oauth.js';
import { remote } from '../support/remote.js';
import { found, indexed } from '../support/search.js';
import { alice, as, owner } from '../support/wac.js';

const issuer = new TrustedIssuer();
const trusting = { ...remote.settings, 'oauth.trusted-issuers': issuer.issuer };
const [app, other] = ['https://app.example/id', 'https://other.example/id'];
const purpose = 'https://purpose.example/';
const [asserted, declared, absent] = [
  'https://e.example/Asserted',
  'https://e.example/Declared',
  'https://e.example/No',
];

interface Request {
  readonly purpose?: string;
  readonly client?: string;
  /** Without an assignee the grant applies to every caller. */
  readonly anonymous?: boolean;
  /** Resource under test (Turtle by default). */
  readonly what?: 'turtle' | 'json' | 'bytes' | 'box';
}
type Case = readonly [title: string, constraints: readonly Constraint[], request: Request, holds: boolean];

const day = 86_400_000;
const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
const c = constraint;

const cases: readonly Case[] = [
  ['dateTime lt the future', [c('dateTime', 'lt', at(day))], {}, true],
  ['dateTime lt the past', [c('dateTime', 'lt', at(-day))], {}, false],
  ['dateTime lteq the future', [c('dateTime', 'lteq', at(day))], {}, true],
  ['dateTime lteq the past', [c('dateTime', 'lteq', at(-day))], {}, false],
  ['dateTime gt the past', [c('dateTime', 'gt', at(-day))], {}, true],
  ['dateTime gt the future', [c('dateTime', 'gt', at(day))], {}, false],
  ['dateTime gteq the past', [c('dateTime', 'gteq', at(-day))], {}, true],
  ['dateTime gteq the future', [c('dateTime', 'gteq', at(day))], {}, false],
  ['dateTime between', [c('dateTime', 'gt', at(-day)), c('dateTime', 'lt', at(day))], {}, true],
  ['dateTime after both', [c('dateTime', 'gt', at(-2 * day)), c('dateTime', 'lt', at(-day))], {}, false],
  ['dateTime with another zone', [c('dateTime', 'gt', '2020-01-01T00:00:00+02:00')], {}, true],
  ['dateTime that cannot be read', [c('dateTime', 'gt', 'yesterday')], {}, false],
  ['dateTime that cannot be read, with lt', [c('dateTime', 'lt', 'tomorrow')], {}, false],
  ['dateTime with an invalid month', [c('dateTime', 'lt', '2099-13-01T00:00:00Z')], {}, false],
  ['dateTime with words around a year', [c('dateTime', 'lt', 'never 2099')], {}, false],
  ['dateTime that is a day of a month', [c('dateTime', 'gt', '1')], {}, false],
  ['dateTime in the form of mails', [c('dateTime', 'gt', 'Wed, 01 Jan 2020 00:00:00 GMT')], {}, false],
  ['dateTime as a number', [c('dateTime', 'lt', 99_999_999_999_999)], {}, false],
  ['dateTime with eq', [c('dateTime', 'eq', at(0))], {}, false],
  ['dateTime with neq', [c('dateTime', 'neq', at(day))], {}, false],
  ['dateTime with isNoneOf', [c('dateTime', 'isNoneOf', [at(day)])], {}, false],
  ['client eq', [c('client', 'eq', app)], { client: app }, true],
  ['client eq another', [c('client', 'eq', app)], { client: other }, false],
  ['client eq, of a self-signed credential', [c('client', 'eq', app)], {}, false],
  ['client neq', [c('client', 'neq', app)], { client: other }, true],
  ['client neq the same', [c('client', 'neq', app)], { client: app }, false],
  ['client isAnyOf', [c('client', 'isAnyOf', [other, app])], { client: app }, true],
  ['client isAnyOf others', [c('client', 'isAnyOf', [other])], { client: app }, false],
  ['client isAnyOf nothing', [c('client', 'isAnyOf', [])], { client: app }, false],
  ['client isAllOf the one', [c('client', 'isAllOf', [app])], { client: app }, true],
  ['client isAllOf two', [c('client', 'isAllOf', [app, other])], { client: app }, false],
  ['client isNoneOf', [c('client', 'isNoneOf', [other])], { client: app }, true],
  ['client isNoneOf the same', [c('client', 'isNoneOf', [other, app])], { client: app }, false],
  ['client eq, without an identity', [c('client', 'eq', app)], { anonymous: true }, false],
  ['client neq, without an identity', [c('client', 'neq', app)], { anonymous: true }, false],
  ['client isNoneOf, without an identity', [c('client', 'isNoneOf', [app])], { anonymous: true }, false],
  ['client with lt', [c('client', 'lt', app)], { client: 'https://a.example/' }, false],
  ['purpose eq', [c('purpose', 'eq', purpose)], { purpose }, true],
  ['purpose eq another', [c('purpose', 'eq', purpose)], { purpose: `${purpose}2` }, false],
  ['purpose eq without the header', [c('purpose', 'eq', purpose)], {}, false],
  ['purpose neq', [c('purpose', 'neq', purpose)], { purpose: `${purpose}2` }, true],
  ['purpose neq without the header', [c('purpose', 'neq', purpose)], {}, false],
  ['purpose isNoneOf without the header', [c('purpose', 'isNoneOf', [purpose])], {}, false],
  ['purpose isNoneOf', [c('purpose', 'isNoneOf', [purpose])], { purpose: `${purpose}2` }, true],
  ['purpose isAnyOf', [c('purpose', 'isAnyOf', ['urn:x', purpose])], { purpose }, true],
  ['purpose isAnyOf, single', [c('purpose', 'isAnyOf', purpose)], { purpose }, true],
  ['purpose, without an assignee', [c('purpose', 'eq', purpose)], { purpose, anonymous: true }, true],
  ['format eq', [c('format', 'eq', 'text/turtle')], {}, true],
  ['format eq another', [c('format', 'eq', 'application/json')], {}, false],
  ['mediaType eq', [c('mediaType', 'eq', 'application/json')], { what: 'json' }, true],
  ['mediaType eq another', [c('mediaType', 'eq', 'text/turtle')], { what: 'json' }, false],
  ['format neq', [c('format', 'neq', 'text/plain')], {}, true],
  ['format neq the same', [c('format', 'neq', 'text/plain')], { what: 'bytes' }, false],
  ['format neq of a container, which has none', [c('format', 'neq', 'text/plain')], { what: 'box' }, false],
  ['format eq of a container, which has none', [c('format', 'eq', 'application/lws+json')], { what: 'box' }, false],
  ['format isNoneOf of a container', [c('format', 'isNoneOf', ['text/plain'])], { what: 'box' }, false],
  ['format isAnyOf', [c('format', 'isAnyOf', ['text/plain', 'text/turtle'])], {}, true],
  ['type eq a structural type', [c('type', 'eq', `${lws}DataResource`)], {}, true],
  ['type eq a structural type of another kind', [c('type', 'eq', `${lws}Container`)], {}, false],
  ['type eq Container', [c('type', 'eq', `${lws}Container`)], { what: 'box' }, true],
  ['type eq one asserted in RDF', [c('type', 'eq', asserted)], {}, true],
  ['type eq one declared in the linkset', [c('type', 'eq', declared)], {}, true],
  ['type eq one declared of bytes', [c('type', 'eq', declared)], { what: 'bytes' }, true],
  ['type eq one that it has not', [c('type', 'eq', absent)], {}, false],
  ['type eq one asserted elsewhere', [c('type', 'eq', asserted)], { what: 'bytes' }, false],
  ['type neq one that it has not', [c('type', 'neq', absent)], {}, true],
  ['type neq one that it has', [c('type', 'neq', asserted)], {}, false],
  ['type isAnyOf', [c('type', 'isAnyOf', [absent, declared])], {}, true],
  ['type isAnyOf others', [c('type', 'isAnyOf', [absent])], {}, false],
  ['type isAllOf', [c('type', 'isAllOf', [asserted, declared, `${lws}DataResource`])], {}, true],
  ['type isAllOf with one more', [c('type', 'isAllOf', [asserted, declared, absent])], {}, false],
  ['type isNoneOf', [c('type', 'isNoneOf', [absent, 'urn:x'])], {}, true],
  ['type isNoneOf with one that it has', [c('type', 'isNoneOf', [absent, declared])], {}, false],
  ['all must hold', [c('format', 'eq', 'text/turtle'), c('purpose', 'eq', purpose)], { purpose }, true],
  ['one that does not hold is enough', [c('format', 'eq', 'text/turtle'), c('purpose', 'eq', purpose)], {}, false],
  ['an unknown operand', [c('weather', 'eq', 'fine')], {}, false],
  ['an unknown operand with neq', [c('weather', 'neq', 'fine')], {}, false],
  ['an operand of the prototype', [c('constructor', 'neq', 'x')], {}, false],
  ['an unknown operator', [c('format', 'resembles', 'text/turtle')], {}, false],
  ['an operator of the prototype', [c('format', 'toString', 'text/turtle')], {}, false],
  ['an unknown one beside one that holds', [c('format', 'eq', 'text/turtle'), c('weather', 'eq', 'fine')], {}, false],
  ['an operand in other letters', [c('Format', 'eq', 'text/turtle')], {}, false],
  ['a right operand that is a number', [c('format', 'neq', 7)], {}, false],
  ['a right operand that is an object', [c('client', 'neq', { '@id': other })], { client: other }, false],
  ['right operands that are objects', [c('purpose', 'isNoneOf', [{ '@id': purpose }])], { purpose }, false],
  ['a right operand that is an array of arrays', [c('format', 'isNoneOf', [['text/turtle']])], {}, false],
  ['a right operand that is null', [c('format', 'neq', null)], {}, false],
];

describeStorage(
  'Access grants, constraints',
  (s: StorageUnderTest) => {
    const iris: Record<string, string> = {};
    before(async () => {
      const box = await s.container(`${s.scratch}box/`);
      iris['box'] = box;
      iris['turtle'] = (await s.stored('text/turtle', `<#it> a <${asserted}> .`, `${box}t`)).iri;
      iris['json'] = (await s.stored('application/json', '{}', `${box}j`)).iri;
      iris['bytes'] = (await s.stored('text/plain', `<> a <${asserted}> .`, `${box}b`)).iri;
      for (const name of ['turtle', 'bytes'])
        expect((await putLinks(s, iris[name]!, { type: [{ href: declared }] })).status).to.equal(204);
    });

    for (const [title, constraints, { anonymous, client, purpose: stated, what = 'turtle' }, holds] of cases)
      it(`Constraint, rule 17.5: ${title} ${holds ? 'holds' : 'does not hold'}`, async () => {
        const iri = iris[what]!;
        let made: string;
        try {
          made = await grant(
            s,
            policy(anonymous ? publicAgentIri : alice, 'read', iri, 'StorageResource', ...constraints),
          );
        } catch (error) {
          // A value that no operator accepts may also be rejected.
          if (constraints.every(({ rightOperand }) => typeof rightOperand === 'string')) throw error;
          return;
        }
        const sender = anonymous
          ? 'anonymous'
          : client
            ? { token: issuer.token(s.root, alice.did, { client_id: client }) }
            : as(s, alice);
        const headers: Record<string, string> = stated ? { 'LWS-Purpose': stated } : {};
        const refused = anonymous ? 401 : 404;
        const status = async (target: string) => (await s.send('GET', target, headers, undefined, sender)).status;
        const seen = [await status(iri), await status(metaOf(iri))];
        // Applies inside enumerations too.
        const search = await s.send('GET', `${s.root}.lws/type-search`, headers, undefined, sender);
        await revoke(s, made);
        expect(seen).to.deep.equal(holds ? [200, 200] : [refused, refused]);
        expect(JSON.parse(search.text).items.some(({ id }: { id: string }) => id === iri)).to.equal(holds);
        expect(await status(iri)).to.equal(refused);
      });

    it('Constraint, rule 17.5: an inert policy does not affect the others', async () => {
      const iri = iris['turtle']!;
      const inert = policy(alice, 'modify', iri, 'StorageResource', c('weather', 'eq', 'fine'));
      const made = await grant(s, [inert, policy(alice, 'read', iri)]);
      expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(200);
      expect((await s.send('DELETE', iri, {}, undefined, as(s, alice))).status).to.equal(403);
      await revoke(s, made);
    });

    it('Constraint: listings, searches and the index show only resources that satisfy it', async () => {
      const made = await grant(s, [
        policy(alice, 'read', iris['box']!, 'DataResource', c('format', 'isAnyOf', ['text/turtle', 'text/plain'])),
        policy(alice, 'read', iris['box']!, 'Container', c('type', 'eq', `${lws}Container`)),
      ]);
      const listing = JSON.parse((await s.send('GET', iris['box']!, {}, undefined, as(s, alice))).text);
      const wanted = [iris['bytes'], iris['turtle']];
      expect(listing.items.map(({ id }: { id: string }) => id)).to.deep.equal(wanted);
      expect(await found(s, [['type', `${lws}DataResource`]], as(s, alice))).to.deep.equal(wanted);
      expect(await indexed(s, as(s, alice))).to.have.members([
        asserted,
        declared,
        `${lws}Container`,
        `${lws}DataResource`,
      ]);
      await revoke(s, made);
      expect(await indexed(s, as(s, alice))).to.deep.equal([]);
    });

    it('Constraint: access granted by type is revoked when the type is removed', async () => {
      const { iri } = await s.stored('text/turtle', `<> a <${asserted}> .`);
      const made = await grant(s, policy(alice, ['read', 'modify'], iri, 'DataResource', c('type', 'eq', asserted)));
      const update = (text: string) =>
        s.send('PATCH', iri, { 'Content-Type': 'application/sparql-update' }, text, as(s, alice));
      expect((await update(`DELETE DATA { <> a <${asserted}> }`)).status).to.equal(204);
      expect((await update(`INSERT DATA { <> a <${asserted}> }`)).status).to.equal(404);
      expect((await s.send('GET', iri, {}, undefined, as(s, alice))).status).to.equal(404);
      await revoke(s, made);
    });
  },
  { settings: { owners: owner.did, ...trusting }, owner },
);
