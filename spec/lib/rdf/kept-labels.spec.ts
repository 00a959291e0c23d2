/** Labels of blank nodes over two states of a graph. */
import { expect } from 'chai';
import { turtle } from '../../../lib/rdf/formats.js';
import { keptLabels } from '../../../lib/rdf/kept-labels.js';
import { parseRdf } from '../../../lib/rdf/parse.js';
import { labelsInOrder, withLabels } from '../../../lib/storage/keys/key-labels.js';
import { hasBlankNode } from '../../../lib/storage/keys/key-layout.js';
import { encodeGraph } from '../../../lib/storage/keys/quad-keys.js';
import '../../support/random-seed.js';

const graph = 'http://data.example/g';

/** Number of keys that two states do not share, with kept labels. Checks that these are distinct and not those of other nodes. */
async function differing(before: string, after: string): Promise<number> {
  const [old, fresh] = await Promise.all(
    [before, after].map(async (text) => (await parseRdf(Buffer.from(text), turtle, { base: graph })).quads),
  );
  const labels = keptLabels(old!, fresh!);
  expect(new Set(labels.values()).size).to.equal(labels.size);
  const [keys, given] = [encodeGraph(graph, old!), encodeGraph(graph, fresh!)];
  const others = new Set(keys);
  const differingIn = (renamed: readonly string[]): number => {
    expect(renamed.length).to.equal(given.length);
    return keys.length + renamed.length - 2 * renamed.filter((key) => others.has(key)).length;
  };
  const [own, theirs] = [given.filter(hasBlankNode), keys.filter(hasBlankNode)];
  const ordered = labelsInOrder(theirs, own);
  if (ordered) {
    expect(new Set(ordered.values()).size).to.equal(ordered.size);
    expect(differingIn(withLabels(given, ordered))).to.be.at.most(
      2 * Math.max(4, own.length / 50) + Math.abs(keys.length - given.length),
    );
  }
  return differingIn(withLabels(given, labels));
}

const lists = (count: number, value = 0): string =>
  Array.from({ length: count }, (_, at) => `<#l${at}> <p:list> (${at} ${at === 3 ? value : 1} 2) .`).join('\n');

describe('Kept labels of blank nodes', () => {
  it('keeps all labels of an equal graph, also with equal nodes and rings', async () => {
    for (const text of [
      lists(20),
      '[] <p:a> 1 . [] <p:a> 1 . <#s> <p:l> (1 2 3) , (1 2 3) , (1 2 3) .',
      '_:a <p:next> _:b . _:b <p:next> _:c . _:c <p:next> _:a . _:x <p:next> _:y . _:y <p:next> _:x .',
      '<#s> <p:a> <<( _:a <p:b> _:c )>> . _:a <p:x> 1 . _:c <p:x> 2 .',
    ])
      expect(await differing(text, text), text).to.equal(0);
  });

  it('keeps the labels of nodes near a change', async () => {
    expect(await differing(lists(20, 7), lists(20, 8))).to.equal(2);
    const shape = (min: number): string =>
      Array.from(
        { length: 30 },
        (_, at) =>
          `<#s${at}> <p:property> [ <p:path> <p:${at % 5}> ; <p:min> ${at === 4 ? min : 1} ; <p:or> ( [ <p:a> 1 ] [ <p:b> ${at} ] ) ] .`,
      ).join('\n');
    expect(await differing(shape(1), shape(2))).to.equal(2);
    // A triple is added to a node, and a node with three triples.
    expect(await differing(lists(20), `${lists(20)} <#n> <p:new> [ <p:a> 1 ] .`)).to.equal(2);
  });

  it('gives other labels to the nodes of a graph with more than 5 000', async () => {
    const many = Array.from({ length: 5_001 }, (_, at) => `[] <p:a> ${at} .`).join('\n');
    expect(await differing(many, many)).to.equal(10_002);
  });

  it('returns distinct labels for random graphs', async () => {
    const random = (below: number): number => Math.floor(Math.random() * below);
    for (let run = 0; run < 100; run++) {
      const text = (): string =>
        Array.from({ length: random(30) }, () => {
          const object = random(2) ? `_:n${random(12)}` : random(4);
          return `_:n${random(12)} <p:${random(3)}> ${object} .`;
        }).join('\n');
      const before = text();
      await differing(before, text());
      await differing(before, `${before}\n${text()}`);
    }
  });
});
