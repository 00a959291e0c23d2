/** Rules 16.2, 17.9: imported subscriptions have the same limits as new ones. */
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

describe('imported subscriptions', () => {
  it('belong to the importing caller, with a limited lifetime', () => {
    expect(read({})!.keptBy('https://id.example/owner')).to.deep.equal({
      ...{ id, subscriber: 'https://id.example/owner', topics: value.topics, inbox: value.inbox },
      ...{ created: 1, expires: latest, active: true, failures: 0 },
    });
  });

  it('are rejected if the inbox is on the storage or a required field is missing', () => {
    for (const bad of [
      { inbox: `${root}in` },
      { inbox: 'ftp://x/' },
      { id: 'other' },
      { topics: 'x' },
      { expires: 'soon' },
    ])
      expect(read(bad), JSON.stringify(bad)).to.equal(undefined);
  });

  it('check the limits, including subscriptions imported with them', () => {
    const asked: unknown[] = [];
    const found = foreignSubscription(value, id, { root, latest, hasRoom: (...given) => asked.push(given) < 2 })!;
    expect([found.hasRoom?.('a', 0), found.hasRoom?.('a', 1)]).to.deep.equal([true, false]);
    expect(asked).to.deep.equal([
      ['a', 0],
      ['a', 1],
    ]);
  });
});
