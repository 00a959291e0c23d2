/** Patches of linksets against a model of RFC 7386 and RFC 6902. Independent of the implementation. */
import { expect } from 'chai';
import fc from 'fast-check';
import { enough, runs } from '../support/speed.js';
import * as documents from './linkset-documents.js';
import { expected, expectOutcome, jsonPatch, kinds, Linksets, mergePatch } from './linkset-harness.js';
import * as model from './linkset-model.js';

/** Returns the operations of drafts, each for the result of the preceding ones. */
function operationsOf(drafts: readonly documents.Draft[], target: model.JsonObject): model.Operation[] {
  const ofDocument = 'linkset' in target;
  let value: model.Json = target;
  return drafts.map((draft) => {
    const pointers = documents.pointersIn(value).filter((pointer) => !ofDocument || /^\/linkset\/0/.test(pointer));
    if (pointers.length === 0) return { op: 'add', path: '/linkset/-', value: {} };
    const operation = documents.operationOf(draft, pointers, (pointer) => model.valueAt(value, pointer));
    try {
      value = model.patched(value, [operation]);
    } catch {
      // The whole patch is rejected.
    }
    return operation;
  });
}

describe('Patches of linksets against a model', function () {
  this.timeout(60_000);
  let linksets: Linksets;
  before(async () => {
    linksets = await Linksets.open();
  });
  after(() => linksets.close());

  it('follow RFC 7386, for the document and for the object of relations', async () => {
    await fc.assert(
      fc.asyncProperty(kinds, documents.goodMembers, documents.mergeMembers, fc.boolean(), async (...given) => {
        const [kind, members, change, ofDocument] = given;
        const described = await linksets.start(kind, members);
        const before = linksets.read(described);
        const client = { type: [], ...linksets.client(described) };
        const text = ofDocument ? `{"linkset":[${documents.textOf(change)}]}` : documents.textOf(change);
        const patch = JSON.parse(text) as model.JsonObject;
        const wanted = expected(described, () =>
          Object.keys(patch).join() === 'linkset'
            ? model.clientPartOfDocument(model.merged({ ...before.document }, patch), described)
            : model.clientPart(model.merged(client, patch), described),
        );
        const answer = await linksets.write(described, text, mergePatch);
        expectOutcome(answer, wanted, before, linksets.read(described), `${before.text} with ${text}`);
      }),
      { numRuns: runs(400) },
    );
  });

  it('follow RFC 6902, for the document and for the object of relations', async () => {
    let applied = 0;
    await fc.assert(
      fc.asyncProperty(kinds, documents.goodMembers, documents.drafts, fc.boolean(), async (...given) => {
        const [kind, members, drafts, ofDocument] = given;
        const described = await linksets.start(kind, members);
        const before = linksets.read(described);
        const target = ofDocument ? { ...before.document } : { type: [], ...linksets.client(described) };
        const operations = operationsOf(drafts, target);
        fc.pre(operations.every((operation) => documents.isDefined(operation, ofDocument)));
        const wanted = expected(described, () => {
          const result = model.patched(target, operations);
          return ofDocument ? model.clientPartOfDocument(result, described) : model.clientPart(result, described);
        });
        const text = JSON.stringify(operations);
        const answer = await linksets.write(described, text, jsonPatch);
        expectOutcome(answer, wanted, before, linksets.read(described), `${before.text} with ${text}`);
        if (answer === 'ok') applied++;
      }),
      { numRuns: runs(800) },
    );
    expect(applied, 'applied patches').to.be.above(enough(150));
  });

  const impossible: readonly (readonly [what: string, ...operations: model.Operation[]])[] = [
    ['moves the whole document into itself', { op: 'move', from: '', path: '/x' }],
    ['copies beyond the end of an array', { op: 'copy', from: '/author', path: '/list/7' }],
    ['moves beyond the end of an array', { op: 'move', from: '/author', path: '/list/7' }],
    ['moves to an index that no longer exists after the removal', { op: 'move', from: '/list/0', path: '/list/2' }],
    ['moves an element into itself', { op: 'move', from: '/list/0', path: '/list/0/x' }],
    ['adds at an index with a leading zero', { op: 'add', path: '/list/01', value: 'z' }],
    ['tests at an index with a leading zero', { op: 'test', path: '/list/00', value: 'x' }],
    ['removes an inherited property', { op: 'remove', path: '/toString' }],
    ['replaces an inherited property', { op: 'replace', path: '/toString', value: 'z' }],
    ['copies an inherited property', { op: 'copy', from: '/valueOf', path: '/x' }],
  ];
  const possible: readonly (readonly [what: string, ...operations: model.Operation[]])[] = [
    [
      'tests an object with a member hasOwnProperty',
      { op: 'test', path: '/o/0', value: { href: 'h', hasOwnProperty: 1 } },
    ],
    [
      'adds an object with a member hasOwnProperty',
      { op: 'add', path: '/o/-', value: { href: 'h', hasOwnProperty: 1 } },
    ],
    ['moves a value to the same location', { op: 'move', from: '/author', path: '/author' }],
  ];
  for (const [verb, shape, list] of [
    ['is rejected', 'array', impossible],
    ['is accepted', 'string', possible],
  ] as const)
    for (const [what, ...operations] of list)
      it(`${verb} if it ${what}`, async () => {
        const links = Object.entries({ author: 'Ada', list: ['x', 'y'], o: [{ href: 'h', hasOwnProperty: 1 }] });
        const described = await linksets.start('binary', links);
        const before = linksets.read(described);
        const wanted = expected(described, () =>
          model.clientPart(model.patched({ type: [], ...linksets.client(described) }, operations), described),
        );
        expect(wanted, 'the model').to.be.a(shape);
        const answer = await linksets.write(described, JSON.stringify(operations), jsonPatch);
        expectOutcome(answer, wanted, before, linksets.read(described), what);
      });
});
