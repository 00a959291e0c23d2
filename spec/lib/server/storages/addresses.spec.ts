/** Storages of hosts and paths (rule 21.1), and addresses without a storage. */
import { expect } from 'chai';
import { Addresses, isStorageName } from '../../../../lib/server/storages/addresses.js';

const byHost = new Addresses('https://{name}.pods.example/', new URL('https://pods.example/'));
const byPath = new Addresses('https://pods.example/{name}/', new URL('https://pods.example/home/'));

describe('Addresses of storages', () => {
  for (const [host, path, wanted] of [
    ['pods.example', '/alice/', 'home'],
    ['PODS.example', '/', 'home'],
    ['alice.pods.example', '/x/y', { name: 'alice' }],
    ['Alice.Pods.Example', '/', { name: 'alice' }],
    ['a.b.pods.example', '/', 'elsewhere'],
    ['alice.pods.example:8443', '/', 'elsewhere'],
    ['alice.pods.example:443', '/', { name: 'alice' }],
    ['pods.example:443', '/', 'home'],
    ['alice.pods.example.evil.example', '/', 'elsewhere'],
    ['pods.example.', '/', 'elsewhere'],
    ['', '/', 'elsewhere'],
    ['.pods.example', '/', 'nobody'],
    ['-.pods.example', '/', 'nobody'],
    ['xn--lice-1qa.pods.example', '/', 'nobody'],
  ] as const)
    it(`by host: ${host}${path} (rule 21.1)`, () => expect(byHost.find(host, path)).to.deep.equal(wanted));

  for (const [host, path, wanted] of [
    ['pods.example', '/alice/x', { name: 'alice' }],
    ['pods.example', '/alice', { name: 'alice' }],
    ['pods.example', '/home/x', 'home'],
    ['pods.example', '/home', 'home'],
    ['pods.example', '/', 'nobody'],
    ['pods.example', '//alice/', 'nobody'],
    ['pods.example', '/Alice/', 'nobody'],
    ['pods.example', '/%61lice/', 'nobody'],
    ['pods.example', '/../alice/', 'nobody'],
    ['pods.example', '/.well-known/lws-configuration/alice', { name: 'alice' }],
    ['pods.example', '/.well-known/oauth-protected-resource/home', 'home'],
    ['pods.example', '/.well-known/lws-configuration', 'nobody'],
    ['alice.pods.example', '/alice/', 'elsewhere'],
  ] as const)
    it(`by path: ${host}${path} (rule 21.1)`, () => expect(byPath.find(host, path)).to.deep.equal(wanted));

  it('a home may have a path of several segments', () => {
    const deep = new Addresses('https://pods.example/{name}/', new URL('https://pods.example/our/home/'));
    expect(deep.find('pods.example', '/our/home/x')).to.equal('home');
    expect(deep.find('pods.example', '/our/home')).to.equal('home');
    expect(deep.find('pods.example', '/.well-known/oauth-protected-resource/our/home')).to.equal('home');
    expect(deep.find('pods.example', '/our/homes')).to.deep.equal({ name: 'our' });
    expect(deep.find('pods.example', '/alice/our/home/')).to.deep.equal({ name: 'alice' });
  });

  for (const [addresses, host, wanted] of [
    [byHost, 'alice.pods.example', 'https://alice.pods.example'],
    [byHost, 'Alice.pods.example:80', 'https://alice.pods.example'],
    [byHost, 'pods.example', 'https://pods.example'],
    [byHost, 'evil.example', undefined],
    [byHost, 'alice.pods.example.evil.example', undefined],
    [byHost, 'a.b.pods.example', undefined],
    [byHost, '', undefined],
    [byPath, 'pods.example:80', 'https://pods.example'],
    [byPath, 'alice.pods.example', undefined],
  ] as const)
    it(`redirects plain HTTP at ${host} to ${wanted}`, () => expect(addresses.originAt(host)).to.equal(wanted));

  it('a home on another host has all its paths', () => {
    const apart = new Addresses('https://pods.example/{name}/', new URL('https://lab.example/'));
    expect(apart.find('lab.example', '/alice/')).to.equal('home');
    expect(apart.find('pods.example', '/alice/')).to.deep.equal({ name: 'alice' });
  });

  for (const [template, home, why] of [
    ['https://pods.example/', 'https://pods.example/', '{name} must occur once'],
    ['https://{name}.pods.example/{name}/', 'https://pods.example/', '{name} must occur once'],
    ['https://pods.example/{name}', 'https://pods.example/home/', '{name} must occur once'],
    ['https://pods.example/x/{name}/', 'https://pods.example/home/', '{name} must occur once'],
    ['https://x{name}.pods.example/', 'https://pods.example/', '{name} must occur once'],
    ['https://{name}.pods.example/?a', 'https://pods.example/', '{name} must occur once'],
    ['ftp://{name}.pods.example/', 'https://pods.example/', '{name} must occur once'],
    ['{name}', 'https://pods.example/', 'use a URI such as'],
    ['https://pods.example/{name}/', 'https://pods.example/', 'would contain all others'],
    ['http://{name}.pods.example/', 'https://pods.example/', 'all storages use the same scheme'],
  ] as const)
    it(`rejects ${template} with the home storage ${home}`, () =>
      expect(() => new Addresses(template, new URL(home))).to.throw(why));

  it('names are labels of hosts', () => {
    for (const name of ['a', 'a1', 'a-b', 'a'.repeat(63)]) expect(isStorageName(name), name).to.equal(true);
    for (const name of ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'ä', 'xn--a', 'a'.repeat(64), '..', 'a/b', 'a\n'])
      expect(isStorageName(name), name).to.equal(false);
  });

  it('reserves the address of the home and its parents', () => {
    expect(byPath.isOfHome('home')).to.equal(true);
    expect(byPath.isOfHome('hom')).to.equal(false);
    expect(
      new Addresses('https://{name}.pods.example/', new URL('https://lab.pods.example/x/')).isOfHome('lab'),
    ).to.equal(true);
  });
});
