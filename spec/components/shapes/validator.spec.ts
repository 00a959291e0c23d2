/** Validation threads and the clients that share them (rule 23.11). */
import { expect } from 'chai';
import { Parser } from 'n3';
import { type ShapesVersion, Validator } from '../../../components/shapes/validator.js';
import type { Access } from '../../../lib/authorization/principal.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { prefixes } from '../../support/shapes.js';

const keysOf = (text: string): readonly string[] => encodeGraph('urn:g', new Parser().parse(prefixes + text)).sort();
const shapesOf = (version: string, content: string): ShapesVersion => {
  const keys = keysOf(`ex:S a sh:NodeShape ; sh:targetNode ex:x ; sh:property [ sh:path ex:p ; ${content} ] .`);
  return { iri: 'urn:shapes', version, load: async () => ({ keys, prefixes: {} }) };
};
const hostile = shapesOf('hostile', 'sh:pattern "^(a+)+$"');
const harmless = shapesOf('harmless', 'sh:minCount 1');
const data = keysOf(`ex:x ex:p "${'a'.repeat(60)}!" .`);

describe('Validation threads', () => {
  const authorizer = { callerClass: async (_view: unknown, { principal }: Access) => principal?.subject.split(' ')[0] };
  const validator = new Validator({ authorizer, store: {}, rootIri: 'urn:root', home: undefined } as never);
  after(() => validator.close());
  const validate = (subject: string, shapes: ShapesVersion) =>
    validator.validate({ principal: { subject } }, [shapes], [data]).then(
      () => 'done',
      ({ code }) => code,
    );

  it('has one for other callers with access by name while one sends hostile shapes', async () => {
    // Starts the threads.
    await Promise.all(['known a', 'known b', 'controller c'].map((who) => validate(who, harmless)));
    const ended: string[] = [];
    const sent = Array.from({ length: 20 }, () => validate('known a', hostile).then((code) => ended.push(code)));
    await validate('known b', harmless);
    await validate('controller c', harmless);
    expect(ended).to.deep.equal([]);
    await sent[0];
    expect(ended).to.deep.equal(['too-complex']);
    await validator.close();
    await Promise.all(sent);
  }).timeout(60_000);
});
