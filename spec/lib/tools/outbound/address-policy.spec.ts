/** Address policy. Must not resolve a name or open a connection. */
import { expect } from 'chai';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import {
  type AllowedHost,
  hostList,
  isAllowedHost,
  isGlobalUnicast,
  parseAllowedHost,
} from '../../../../lib/tools/outbound/address-policy.js';
import { runs } from '../../../support/speed.js';

/** Rejected addresses by reason: the first and the last address of each range. */
const refused: Readonly<Record<string, readonly string[]>> = {
  'this network and the wildcard (RFC 791)': ['0.0.0.0', '0.0.0.1', '0.255.255.255', '::'],
  'private addresses (RFC 1918)': [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
  ],
  'carrier-grade NAT (RFC 6598)': ['100.64.0.0', '100.100.100.200', '100.127.255.255'],
  'loopback (RFC 1122, RFC 4291)': ['127.0.0.1', '127.0.0.0', '127.255.255.255', '::1'],
  'link-local addresses (RFC 3927, RFC 4291)': [
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    'fe80::',
    'fe80::1',
    'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  ],
  'metadata hosts of clouds': ['169.254.169.254', '100.100.100.200', '168.63.129.16', 'fd00:ec2::254', '192.0.0.192'],
  'protocol assignments (RFC 6890, RFC 2928)': ['192.0.0.0', '192.0.0.255', '2001::', '2001:1ff:ffff::1', '2001:1::1'],
  'documentation (RFC 5737, RFC 3849, RFC 9637)': [
    '192.0.2.0',
    '192.0.2.255',
    '198.51.100.1',
    '203.0.113.255',
    '2001:db8::',
    '2001:db8:ffff::1',
    '3fff::',
    '3fff:fff:ffff::1',
  ],
  'benchmarking (RFC 2544, RFC 5180)': ['198.18.0.0', '198.19.255.255', '2001:2::1'],
  'AS112, AMT and relays of 6to4': ['192.31.196.1', '192.175.48.1', '2620:4f:8000::1', '192.52.193.1', '192.88.99.1'],
  'multicast (RFC 5771, RFC 4291)': ['224.0.0.0', '239.255.255.255', 'ff00::', 'ff02::1', 'ffff::1'],
  'reserved addresses and broadcast (RFC 1112)': ['240.0.0.0', '255.255.255.254', '255.255.255.255'],
  'unique local and site-local addresses (RFC 4193, RFC 3879)': [
    'fc00::',
    'fd12:3456::1',
    'fdff:ffff::1',
    'fec0::1',
    'feff::1',
  ],
  'the discard prefix (RFC 6666)': ['100::', '100::1', '100::ffff:ffff:ffff:ffff', '100:0:0:1::1'],
  'Teredo (RFC 4380)': ['2001::1', '2001:0:808:808::f7f7:f7f7'],
  'ORCHID (RFC 4843, RFC 7343)': ['2001:10::1', '2001:1f::1', '2001:20::1', '2001:2f::1'],
  'NAT64 for local use (RFC 8215)': ['64:ff9b:1::', '64:ff9b:1::808:808', '64:ff9b:1:ffff::8.8.8.8'],
  'translation prefixes that the server does not decode (RFC 2765)': ['::ffff:0:808:808', '::ffff:0:127.0.0.1'],
  'unallocated addresses (RFC 4291 2.4)': ['1::1', '1fff::1', '4000::1', '5f00::1', '::1:0:0:0'],
};

const allowed: readonly string[] = [
  '1.0.0.0',
  '1.1.1.1',
  '8.8.8.8',
  '9.255.255.255',
  '11.0.0.0',
  '100.63.255.255',
  '100.128.0.0',
  '126.255.255.255',
  '128.0.0.0',
  '168.63.129.15',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.0.1.0',
  '192.167.255.255',
  '192.169.0.0',
  '198.17.255.255',
  '198.20.0.0',
  '223.255.255.255',
  '2000::1',
  '2001:200::1',
  '2001:4860:4860::8888',
  '2001:db7::1',
  '2001:db9::1',
  '2606:4700::1111',
  '3fff:1000::1',
];

const octets = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
const dotted = octets.map((bytes) => bytes.join('.'));
const groups = fc.array(fc.nat(0xffff), { minLength: 8, maxLength: 8 });
const colons = groups.map((parts) => parts.map((part) => part.toString(16)).join(':'));

function hexOf(address: string): string {
  const [a, b, c, d] = address.split('.').map(Number) as [number, number, number, number];
  return `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
}

describe('outbound/address-policy', () => {
  describe('addresses', () => {
    for (const [why, addresses] of Object.entries(refused))
      it(`refuses ${why}`, () => {
        for (const address of addresses) expect(isGlobalUnicast(address), address).to.equal(false);
      });

    it('allows global unicast addresses, up to the limits of the ranges', () => {
      for (const address of allowed) expect(isGlobalUnicast(address), address).to.equal(true);
    });

    it('decodes IPv4-mapped and IPv4-compatible addresses (RFC 4291 2.5.5)', () => {
      for (const address of ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:FFFF:10.0.0.1', '::127.0.0.1', '::a00:1'])
        expect(isGlobalUnicast(address), address).to.equal(false);
      expect(isGlobalUnicast('::ffff:8.8.8.8')).to.equal(true);
    });

    it('decodes NAT64 addresses (RFC 6052)', () => {
      expect(isGlobalUnicast('64:ff9b::169.254.169.254')).to.equal(false);
      expect(isGlobalUnicast('64:ff9b::a9fe:a9fe')).to.equal(false);
      expect(isGlobalUnicast('64:ff9b::8.8.8.8')).to.equal(true);
      expect(isGlobalUnicast('64:ff9b:0:0:0:1:808:808')).to.equal(false);
    });

    it('decodes 6to4 addresses (RFC 3056)', () => {
      expect(isGlobalUnicast('2002:7f00:1::')).to.equal(false);
      expect(isGlobalUnicast('2002:c0a8:101:1::808:808')).to.equal(false);
      expect(isGlobalUnicast('2002:808:808::7f00:1')).to.equal(true);
    });

    it('has the same result for an IPv4 address in all its IPv6 forms', () => {
      fc.assert(
        fc.property(dotted, (address) => {
          const verdict = isGlobalUnicast(address);
          for (const form of [`::ffff:${address}`, `64:ff9b::${address}`, `::${address}`, `2002:${hexOf(address)}::1`])
            expect(isGlobalUnicast(form), form).to.equal(verdict);
        }),
      );
    });

    it('allows no IPv4 address with a special purpose in ipaddr.js', () => {
      fc.assert(
        fc.property(dotted, (address) => {
          if (isGlobalUnicast(address)) expect(ipaddr.parse(address).range()).to.equal('unicast');
        }),
        { numRuns: runs(2000) },
      );
    });

    it('allows no IPv6 address outside 2000::/3, or with a special purpose in ipaddr.js', () => {
      fc.assert(
        fc.property(colons, fc.boolean(), (address, isNear) => {
          const near = isNear ? address.replace(/^[^:]+/, '2001') : address;
          if (!isGlobalUnicast(near)) return;
          expect(near).to.match(/^[23][\da-f]{3}:/);
          expect(ipaddr.parse(near).range()).to.be.oneOf(['unicast', '6to4']);
        }),
        { numRuns: runs(2000) },
      );
    });

    it('rejects the blocks of a private network with any host part', () => {
      fc.assert(
        fc.property(octets, ([a, b, c, d]) => {
          for (const address of [`10.${b}.${c}.${d}`, `127.${b}.${c}.${d}`, `169.254.${c}.${d}`, `192.168.${c}.${d}`])
            expect(isGlobalUnicast(address)).to.equal(false);
          expect(isGlobalUnicast(`fd${a.toString(16).padStart(2, '0')}::${b}`)).to.equal(false);
        }),
      );
    });

    it('rejects zone identifiers (RFC 4007 11)', () => {
      for (const address of ['fe80::1%eth0', '2001:4860:4860::8888%1', '2606:4700::1111%', '::1%lo', '8.8.8.8%1'])
        expect(isGlobalUnicast(address), address).to.equal(false);
    });

    it('rejects every spelling of an address but the usual one', () => {
      for (const address of [
        '134744072',
        '0x8080808',
        '010.8.8.8',
        '8.8.8',
        '8.8.2056',
        '0x8.8.8.8',
        '8.8.8.8.',
        ' 8.8.8.8',
        '8.8.8.8\n',
        '8.8.8.8/32',
        '8.8.8.8:80',
        '[2606:4700::1111]',
        '2606:4700::1111::',
        '８.8.8.8',
      ])
        expect(isGlobalUnicast(address), address).to.equal(false);
    });

    it('rejects invalid addresses, and never throws', () => {
      for (const address of ['', 'localhost', 'example.com', '256.1.1.1', '1.1.1.1.1', ':', ':::', '2001:4860'])
        expect(isGlobalUnicast(address), address).to.equal(false);
      fc.assert(
        fc.property(
          fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom(...'0189af.:%x[]') })),
          (text) => {
            if (isGlobalUnicast(text)) expect(ipaddr.isValid(text)).to.equal(true);
          },
        ),
        { numRuns: runs(2000) },
      );
    });
  });

  describe('allowed hosts', () => {
    const parse = (entry: string): AllowedHost => parseAllowedHost(entry)!;
    const isListed = (url: string, ...entries: string[]): boolean => isAllowedHost(new URL(url), entries.map(parse));

    it('match every port if they have none', () => {
      expect(isListed('http://pod.example/', 'pod.example')).to.equal(true);
      expect(isListed('https://pod.example:8443/a?b#c', 'pod.example')).to.equal(true);
    });

    it('match one port if they have one, default ports included', () => {
      expect(isListed('http://pod.example:8080/', 'pod.example:8080')).to.equal(true);
      expect(isListed('http://pod.example:8081/', 'pod.example:8080')).to.equal(false);
      expect(isListed('http://pod.example/', 'pod.example:80')).to.equal(true);
      expect(isListed('https://pod.example/', 'pod.example:443')).to.equal(true);
      expect(isListed('https://pod.example/', 'pod.example:80')).to.equal(false);
      expect(isListed('http://pod.example/', 'pod.example:443')).to.equal(false);
    });

    it('match in any case, with or without a trailing dot', () => {
      expect(isListed('http://POD.Example./', 'pod.example')).to.equal(true);
      expect(isListed('http://pod.example/', 'Pod.EXAMPLE.')).to.equal(true);
      expect(isListed('http://pod.example./', 'pod.example.:80')).to.equal(true);
    });

    it('match internationalized names in either form', () => {
      expect(isListed('http://xn--bcher-kva.example/', 'bücher.example')).to.equal(true);
      expect(isListed('http://BÜCHER.example/', 'xn--bcher-kva.example')).to.equal(true);
    });

    it('match addresses in every spelling, IPv6 in brackets', () => {
      expect(isListed('http://0x7f.1/', '127.0.0.1')).to.equal(true);
      expect(isListed('http://127.0.0.1:81/', '2130706433:81')).to.equal(true);
      expect(isListed('http://[::1]:8080/', '[0:0:0:0:0:0:0:1]:8080')).to.equal(true);
      expect(isListed('http://[2001:DB8::1]/', '[2001:db8:0::1]')).to.equal(true);
      expect(isListed('http://[::1]/', '127.0.0.1')).to.equal(false);
    });

    it('match complete host names only', () => {
      for (const url of [
        'http://a.pod.example/',
        'http://pod.example.evil/',
        'http://od.example/',
        'http://evil/pod.example',
      ])
        expect(isListed(url, 'pod.example'), url).to.equal(false);
      expect(isListed('http://pod.example@evil/', 'pod.example')).to.equal(false);
      expect(isListed('http://pod.example/')).to.equal(false);
    });

    it('are malformed with anything but a host and a port', () => {
      for (const entry of [
        '',
        ' ',
        '*',
        '*.example',
        'http://pod.example',
        'pod.example/',
        'pod.example/path',
        'pod.example?',
        'pod.example#',
        'user@pod.example',
        'pod.example:',
        'pod.example:0',
        'pod.example:65536',
        'pod.example:123456',
        'pod.example:http',
        ':80',
        '.',
        'pod .example',
        'pod.example\n',
        'pod%2eexample',
        '::1',
        '2001:db8::1',
        '[::1',
        '[::1]x',
        '[fe80::1%eth0]',
        '[127.0.0.1]',
        '256.1.1.1',
        '10.0.0.0/8',
      ])
        expect(parseAllowedHost(entry), JSON.stringify(entry)).to.equal(undefined);
    });

    it('never throw, and match their own URL', () => {
      fc.assert(
        fc.property(
          fc.oneof(
            fc.string(),
            fc.domain(),
            fc.ipV4(),
            fc.ipV6().map((v6) => `[${v6}]`),
          ),
          (entry) => {
            const parsed = parseAllowedHost(entry);
            if (parsed && parsed.port === undefined)
              expect(isAllowedHost(new URL(`https://${entry}/`), [parsed])).to.equal(true);
          },
        ),
      );
      expect(fc.sample(fc.domain(), 20).filter((domain) => !parseAllowedHost(domain))).to.deep.equal([]);
    });

    it('are rejected as a whole setting if one of them is malformed', () => {
      expect(hostList.parse('pod.example, 10.0.0.1:80')).to.deep.equal(['pod.example', '10.0.0.1:80']);
      expect(hostList.parse(['[::1]:80'])).to.deep.equal(['[::1]:80']);
      expect(hostList.parse([])).to.deep.equal([]);
      expect(hostList.parse(['pod.example', '*.example'])).to.equal(undefined);
      expect(hostList.parse([80])).to.equal(undefined);
    });
  });
});
