/** PATCH: inline and worker evaluation have the same result. Hostile updates are stopped and do not block other work. */
import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { create } from '../../../lib/resources/create.js';
import { patch } from '../../../lib/resources/patch.js';
import { rdfRepresentation } from '../../../lib/resources/read.js';
import { replace } from '../../../lib/resources/replace.js';
import { sortKeys } from '../../../lib/storage/keys/key-order.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import { checkStore } from '../../../lib/storage/transactions/check.js';
import { LwsError } from '../../../lib/tools/errors.js';
import { changeOf } from '../../support/evaluated-update.js';
import { root, storeOnDisk } from '../../support/memory-store.js';
import { slowness } from '../../support/patience.js';
import { body, type SpecStorage, specStorage } from '../../support/storage.js';

const common = { access: {}, preconditions: {}, model: undefined };
const update = 'application/sparql-update';

const xsdString = { termType: 'NamedNode', value: 'http://www.w3.org/2001/XMLSchema#string' };
const node = (name: string) => ({ termType: 'NamedNode', value: `${root}r#${name}` });

describe('PATCH with SPARQL Update', () => {
  let spec: SpecStorage;
  const iri = `${root}r`;
  const put = (turtle: string) => replace(spec.storage, { ...common, iri, preconditions: {}, body: body(turtle) });
  const send = (text: string) => patch(spec.storage, { ...common, iri, body: body(text, update) });
  const turtle = async (): Promise<string> => {
    const record = spec.storage.store.record(iri)!;
    return (await rdfRepresentation(spec.storage, record, {
      format: 'text/turtle',
      fallback: 'text/turtle',
    }))!.bytes.toString();
  };
  const refusal = async (work: Promise<unknown>): Promise<LwsError> => {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(LwsError);
    return error as LwsError;
  };

  beforeEach(async () => {
    spec = await specStorage({ updateTimeoutMs: 1500, memory: await storeOnDisk() });
  });
  afterEach(async () => {
    expect((await checkStore(spec.memory.store)).faults).to.deep.equal([]);
    await spec.dispose();
  });

  it('applies data operations in order, inline or in the worker if the text is long', async () => {
    await put('<#a> <#p> 1 .');
    await send('DELETE DATA { <#a> <#p> 1 } ; INSERT DATA { <#a> <#p> 2 }');
    expect(await turtle()).to.equal('<#a> <#p> 2 .\n');
    const many = Array.from({ length: 1000 }, (_, i) => `<#b> <#q> ${i} .`).join('\n');
    await send(`INSERT DATA { ${many} } ; DELETE DATA { <#a> <#p> 2 }`);
    expect(spec.storage.store.record(iri)!.triples).to.equal(1000);
  });

  it('shows each operation the effects of the previous one, with a WHERE too', async () => {
    await put('<#a> <#p> 1, 2 .');
    await send('DELETE { ?s <#p> ?o } INSERT { ?s <#q> ?o } WHERE { ?s <#p> ?o } ; DELETE WHERE { ?s <#q> 1 }');
    expect(await turtle()).to.equal('<#a> <#q> 2 .\n');
  });

  it('keeps state and tag if nothing changes (rule 6.13)', async () => {
    const { record } = await put('<#a> <#p> 1 .');
    for (const text of ['INSERT DATA { <#a> <#p> 1 }', 'DELETE { ?s ?p 7 } WHERE { ?s ?p 7 }', ''])
      expect((await send(text)).record.revision).to.equal(record.revision);
  });

  it('keeps the labels of stored blank nodes and never merges them with new ones, even after a restart', async () => {
    await put('[] <#name> "stored" .');
    await send('INSERT DATA { _:b0 <#name> "first" . _:b0 <#same> "first" }');
    const memory = await spec.memory.reopen();
    const again = await specStorage({ memory });
    const args = { ...common, iri };
    await patch(again.storage, { ...args, body: body('INSERT DATA { _:b0 <#name> "second" }', update) });
    await patch(again.storage, {
      ...args,
      body: body('INSERT { [] <#name> "third" } WHERE { ?s <#name> "stored" }', update),
    });
    await patch(again.storage, {
      ...args,
      body: body('INSERT { ?s <#seen> true } WHERE { ?s <#name> "stored" }', update),
    });
    const { keys } = (await again.storage.store.graph(iri))!;
    const { decodeGraph } = await import('../../../lib/storage/keys/quad-decoding.js');
    const subjects = new Map<string, string[]>();
    for (const { subject, object } of decodeGraph(keys))
      subjects.set(subject.value, [...(subjects.get(subject.value) ?? []), object.value]);
    expect([...subjects.values()].map((values) => values.sort().join())).to.have.members([
      'stored,true',
      'first,first',
      'second',
      'third',
    ]);
    await again.storage.documents.close();
  });

  const hostile: [string, string][] = [
    [
      'a cartesian product',
      'DELETE { ?a ?b ?c } WHERE { ?a ?p ?q . ?b ?r ?s . ?c ?t ?u . ?d ?v ?w . ?e ?x ?y FILTER(?q = ?nothing) }',
    ],
    ['a catastrophic regex', `DELETE { ?s ?p ?o } WHERE { ?s ?p ?o FILTER(REGEX("${'a'.repeat(40)}!", "^(a+)+$")) }`],
  ];
  for (const [what, text] of hostile)
    it(`stops ${what} at its deadline with 422, changes nothing and does not block other work`, async () => {
      await put(Array.from({ length: 200 }, (_, i) => `<#s${i}> <#p${i}> ${i} .`).join('\n'));
      const before = spec.storage.store.record(iri)!;
      let longest = 0;
      let last = performance.now();
      const pulse = setInterval(() => {
        longest = Math.max(longest, performance.now() - last);
        last = performance.now();
      }, 5);
      const started = performance.now();
      const error = await refusal(send(text));
      clearInterval(pulse);
      expect(error.code).to.equal('update-timeout');
      expect(performance.now() - started).to.be.within(1400, 15_000 * slowness);
      expect(longest).to.be.below(1000 * slowness);
      expect(spec.storage.store.record(iri)).to.equal(before);
      // A new worker replaces the one that was ended.
      await send('INSERT { <#after> <#p> true } WHERE {}');
    }).timeout(30_000);

  it('applies all of fifty concurrent patches, inline and in workers', async () => {
    await put('');
    await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        send(i % 5 === 0 ? `INSERT { <#a> <#by> ${i} } WHERE {}` : `INSERT DATA { <#a> <#by> ${i} }`),
      ),
    );
    expect(spec.storage.store.record(iri)!.triples).to.equal(50);
  }).timeout(30_000);

  it('inserts triple terms and base directions', async () => {
    await put('<#a> <#p> 1 .');
    for (const text of [
      'INSERT DATA { <#a> <#p> <<( <#a> <#b> <#c> )>>, "x"@ar--rtl }',
      'INSERT { <#d> <#p> ?t } WHERE { BIND(<<( <#a> <#b> <#c> )>> AS ?t) }',
      'INSERT { <#d> <#p> ?t } WHERE { BIND(STRLANGDIR("x", "ar", "rtl") AS ?t) }',
    ])
      await send(text);
    for (const subject of ['a', 'd'])
      expect(await turtle()).to.match(new RegExp(`<#${subject}> <#p> [^.]*"x"@ar--rtl[^.]*<<\\( <#a> <#b> <#c> \\)>>`));
  });

  it('SPARQL 1.1 Update 3.1.3: skips triples that RDF does not allow, and inserts the others', async () => {
    await put('<#a> <#p> "lit", <#b> .');
    for (const text of [
      'INSERT DATA { "s" <#p> <#o> . <#c> <#p> 1 }',
      'INSERT { ?o <#q> 1 } WHERE { <#a> <#p> ?o }',
      'INSERT { <#a> ?o 2 } WHERE { <#a> <#p> ?o }',
      'INSERT { <#a> ?n 3 } WHERE { BIND(BNODE() AS ?n) }',
      'INSERT { 5 <#p> 4 . <#d> <#p> 4 } WHERE {}',
    ])
      await send(text);
    expect(await turtle()).to.equal(
      '<#a> <#b> 2 ;\n    <#p> <#b>, "lit" .\n\n<#b> <#q> 1 .\n\n<#c> <#p> 1 .\n\n<#d> <#p> 4 .\n',
    );
  });

  it('removes triples that an earlier version stored and RDF does not allow, and check reports them', async () => {
    await put('<#a> <#p> 1 .');
    const { store } = spec.storage;
    const literal = { termType: 'Literal', value: 'x', language: '', datatype: xsdString };
    const illegal = encodeGraph(iri, [
      { subject: literal, predicate: node('p'), object: node('o') },
      { subject: node('a'), predicate: literal, object: node('o') },
    ] as never);
    await store.transact(async (tx) => {
      const record = tx.record(iri)!;
      const keys = await tx.before.graph(record);
      tx.putGraph(iri, keys, sortKeys([...keys, ...illegal]));
      tx.putRecord({ ...record, triples: 3 });
    });
    const { faults } = await checkStore(spec.memory.store);
    expect(faults).to.have.length(1);
    expect(faults[0]).to.include(`${iri} has 2 triples`);
    const [, advice] = /with: (.*)$/.exec(faults[0]!)!;
    await send(advice!);
    expect(await turtle()).to.equal('<#a> <#p> 1 .\n');
  });

  it('SPARQL 1.1 17.4.2.9: creates one node for BNODE("x") per solution', async () => {
    await put('<#a> <#p> 1, 2, 3 .');
    await send(
      'INSERT { ?n <#of> ?v . ?m <#same> ?v } WHERE { <#a> <#p> ?v BIND(BNODE("x") AS ?n) BIND(BNODE("x") AS ?m) }',
    );
    expect(await turtle()).to.equal(
      '<#a> <#p> 1, 2, 3 .\n\n[] <#of> 1 ;\n    <#same> 1 .\n\n[] <#of> 2 ;\n    <#same> 2 .\n\n[] <#of> 3 ;\n    <#same> 3 .\n',
    );
  });

  it('SPARQL 1.1 9.3: finds cycles through a node with a path', async () => {
    await put('<#a> <#p> <#b> . <#b> <#p> <#a> . <#c> <#p> <#d> . <#e> <#p> <#e> .');
    await send('INSERT { ?o <#round> true } WHERE { ?o <#p>+ ?o }');
    const found = [...(await turtle()).matchAll(/<#(\w)>[^.]*?<#round> true/g)].map(([, name]) => name);
    expect(found).to.deep.equal(['a', 'b', 'e']);
  });

  it('SPARQL 1.1 4.1.1: resolves relative references against the base in effect at their position', async () => {
    await put('');
    const here = (reference: string): string => `<${new URL(reference, iri)}>`;
    for (const [text, ...expected] of [
      [
        '# BASE <http://other/>\nINSERT DATA { <../up> <//host/x> "BASE <http://b/>" }',
        `${here('../up')} <http://host/x> "BASE <http://b/>"`,
      ],
      ['BASE <http://b/x/../y/> INSERT DATA { <z> <../p> <./q/../r> }', '<http://b/y/z> <http://b/p> <http://b/y/r>'],
      [
        'BASE <http://b/y/> BASE <../v/./w> INSERT DATA { <z> <?p> <#q> }',
        '<http://b/v/z> <http://b/v/w?p> <http://b/v/w#q>',
      ],
      [
        'PREFIX base: <../ns#> INSERT { base:a base:p ?base } WHERE { BIND(1 AS ?base) }',
        `${here('../ns#a')} ${here('../ns#p')} "1"^^<http://www.w3.org/2001/XMLSchema#integer>`,
      ],
      [
        'BASE <http://one/> INSERT DATA { <a> <p> "1" } ; base\n#x\n<http://two/x/..> INSERT { <a> <p> ?i } WHERE { BIND(IRI("b") AS ?i) }',
        '<http://one/a> <http://one/p> "1"',
        '<http://two/a> <http://two/p> <http://two/b>',
      ],
    ]) {
      await send(text!);
      const record = spec.storage.store.record(iri)!;
      const lines = (await rdfRepresentation(spec.storage, record, {
        format: 'application/n-triples',
        fallback: 'application/n-triples',
      }))!.bytes.toString();
      expect(lines.split(' .\n').filter(Boolean), text).to.deep.equal(expected);
      await send('DELETE WHERE { ?s ?p ?o }');
    }
  });

  it('rejects an update whose solutions produce too much, before it is copied', async () => {
    await put(Array.from({ length: 60 }, (_, i) => `<#s${i}> <#p> ${i} .`).join('\n'));
    const before = await turtle();
    const doubled = Array.from({ length: 9 }, (_, i) => `BIND(CONCAT(?v${i}, ?v${i}) AS ?v${i + 1})`).join(' ');
    const text = `INSERT { ?s <#q> ?t } WHERE { BIND("${'x'.repeat(1000)}" AS ?v0) ${doubled} ?s ?p ?o BIND(CONCAT(STR(?o), ?v9) AS ?t) }`;
    expect((await refusal(send(text))).code).to.equal('too-complex');
    expect(await turtle()).to.equal(before);
  });

  it('rejects too deep nesting, or too long a sequence of operations, as malformed', async () => {
    for (const part of ['OPTIONAL { ?s ?p 7 }', 'MINUS { ?s ?p 7 }', 'FILTER NOT EXISTS { ?s ?p 7 }']) {
      const text = `INSERT { <#b> <#p> 2 } WHERE { ?s ?p ?o ${part.repeat(5000)} }`;
      expect((await refusal(changeOf(text, iri, []))).code).to.equal('malformed-body');
    }
  }).timeout(60_000);

  it('SPARQL 1.1 19.8: decodes escapes in names equally in the fast parser and the SPARQL parser', async () => {
    await put('');
    await send('PREFIX x: <http://x/> INSERT DATA { <#a> x:a\\-b 7 }');
    await send('PREFIX x: <http://x/> INSERT { ?s x:c\\~d 8 } WHERE { ?s x:a\\-b 7 }');
    await send('PREFIX x: <http://x/> DELETE WHERE { ?s x:a\\-b 7 }');
    const record = spec.storage.store.record(iri)!;
    const lines = (await rdfRepresentation(spec.storage, record, {
      format: 'application/n-triples',
      fallback: 'application/n-triples',
    }))!.bytes.toString();
    expect(lines).to.include('<http://x/c~d> "8"').and.not.to.include('a-b');
  });

  it('returns 404 for a nonexistent resource without changes, and POST creates it', async () => {
    expect((await refusal(send('DELETE DATA { <#a> <#p> 1 }'))).code).to.equal('not-found');
    const made = await create(spec.storage, { ...common, iri: root, slug: 'r', body: body('<> <#p> 1 .') });
    expect(made.record.iri).to.equal(iri);
  });
});
