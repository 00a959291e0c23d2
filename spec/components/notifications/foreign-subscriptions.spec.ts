/** Rules 16.2, 17.9: what an import brings of subscriptions keeps the bounds of those that are made here. */
import { expect } from 'chai';
import { foreignSubscription } from '../../../components/notifications/delivery/subscription.js';

const root = 'https://storage.example/';
const latest = 2_000_000;
const id = 'f0000000-0000-4000-8000-000000000000';
const value = {
  ...{ id, subscriber: 'https://id.example/stranger', client: 'https://app.example/', from: 'x', isStranger: true },
  ...{
    topics: [`${root}a`],
    inbox: 'https://inbox.example/',
    created: 1,
    expires: 9_000_000_000_000,
    active: true,
    failures: 0,
  },
};
const read = (changes: object, hasRoom = (): boolean => true) =>
  foreignSubscription({ ...value, ...changes }, id, { root, latest, hasRoom });

describe('notifications/subscriptions of an archive', () => {
  it('are those of whoever imports, as long as they may live here', () => {
    expect(read({})!.keptBy('https://id.example/owner')).to.deep.equal({
      ...{ id, subscriber: 'https://id.example/owner', topics: value.topics, inbox: value.inbox },
      ...{ created: 1, expires: latest, active: true, failures: 0 },
    });
  });

  it('are none with an inbox on the storage itself, or without what makes one', () => {
    for (const bad of [
      { inbox: `${root}in` },
      { inbox: 'ftp://x/' },
      { id: 'other' },
      { topics: 'x' },
      { expires: 'soon' },
    ])
      expect(read(bad), JSON.stringify(bad)).to.equal(undefined);
  });

  it('ask whether there is room, with those that are taken beside them', () => {
    const asked: unknown[] = [];
    const found = foreignSubscription(value, id, { root, latest, hasRoom: (...given) => asked.push(given) < 2 })!;
    expect([found.hasRoom?.('a', 0), found.hasRoom?.('a', 1)]).to.deep.equal([true, false]);
    expect(asked).to.deep.equal([
      ['a', 0],
      ['a', 1],
    ]);
  });
});
