/** Compact set of resource names. */
import { expect } from 'chai';
import { NameSet, nameInSet } from '../../../../components/data/transfer/name-set.js';

describe('NameSet of an import', () => {
  it('contains exactly the added names', () => {
    const names = new NameSet();
    const known = new Set<string>();
    for (let i = 0; i < 20_000; i++) {
      const name = nameInSet(`http://spec.example/${i % 15_000}`);
      expect(names.has(name)).to.equal(known.has(name));
      names.add(name);
      known.add(name);
    }
    expect(names.size).to.equal(known.size);
    for (const name of known) expect(names.has(name)).to.equal(true);
    for (let i = 0; i < 20_000; i++) expect(names.has(nameInSet(`http://other.example/${i}`))).to.equal(false);
  });

  it('distinguishes names with leading zeros and with a common prefix', () => {
    const names = new NameSet();
    const nameOfBytes = (...bytes: number[]): string =>
      Buffer.from([...bytes, ...Array(9 - bytes.length).fill(0)]).toString('base64url');
    for (const bytes of [[], [0, 0, 0, 0, 7], [1], [1, 0, 0, 0, 9], [1, 0, 0, 0, 10]]) {
      expect(names.has(nameOfBytes(...bytes))).to.equal(false);
      names.add(nameOfBytes(...bytes));
      expect(names.has(nameOfBytes(...bytes))).to.equal(true);
    }
    expect(names.size).to.equal(5);
  });
});
