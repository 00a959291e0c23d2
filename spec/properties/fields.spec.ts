/** Properties of all field codecs: round trips, no exceptions, linear time. Independent of the meaning of fields. */
import { expect } from 'chai';
import fc from 'fast-check';
import { chooseMediaType, parseAccept, qualityOf } from '../../lib/tools/fields/accept.js';
import { parseAuthorization } from '../../lib/tools/fields/authorization.js';
import { formatHttpDate, parseHttpDate } from '../../lib/tools/fields/date.js';
import { chooseDigest, type DigestAlgorithm, formatDigest, parseDigests } from '../../lib/tools/fields/digest.js';
import { formatEntityTag, parseEntityTags } from '../../lib/tools/fields/etag.js';
import { formatLink, parseLinks } from '../../lib/tools/fields/link.js';
import { parseMediaType } from '../../lib/tools/fields/media-type.js';
import { parsePrefer } from '../../lib/tools/fields/prefer.js';
import { formatContentRange, parseByteRange } from '../../lib/tools/fields/range.js';
import { runs } from '../support/speed.js';

const offers = ['text/turtle', 'application/ld+json;profile="x"', 'text/html'];

const parsers: Readonly<Record<string, (field: string) => unknown>> = {
  parseAccept: (field) => {
    const ranges = parseAccept(field) ?? [];
    return [chooseMediaType(ranges, offers), qualityOf(ranges, 'text/turtle'), qualityOf([], field)];
  },
  parseAuthorization,
  parseHttpDate: (field) => parseHttpDate(field),
  parseDigests,
  chooseDigest,
  parseEntityTags,
  parseLinks,
  parseMediaType,
  parsePrefer,
  parseByteRange: (field) => parseByteRange(field, 100),
};

const of = (characters: string, minLength = 0) =>
  fc.string({ unit: fc.constantFrom(...characters), minLength, maxLength: 20 });
const token = of("abcXYZ019!#$%&'*+-.^_`|~", 1);
const printable = fc.string({ unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)) });
const syntax = fc.string({
  unit: fc.constantFrom(...' \t,;="\\<>*/:()?@%-.0159aqWbytes=', '\0', '\n', 'é', 'ſ', '\ud800'),
});
const quote = (value: string) => `"${value.replace(/["\\]/g, '\\$&')}"`;

/** Repetitions that make a naive parser quadratic, with prefixes and suffixes. */
const units = [
  ...' \t\n,"\\;=<>()*/:.-a0',
  ...'", \\" "\\ ;a ;a= ;a=1 ;a=" a, a=, a=1, a="b", a=:AAAA:, 0-1,'.split(' '),
  ...'"a", W/"a", <a>, <a>;rel=a, a/b, a/b;q=0, */*;a=1,'.split(' '),
  ', ',
  '; ',
];
const prefixes = '|"|a="|a/b;a="|a/b;a="b"|<a>;rel="|<|bytes=|bytes=0-|Bearer |sha-256=:|sha-256=(|W/"'.split('|');
const suffixes = ['', '"', '\0'];

describe('properties: fields', () => {
  it('round-trips every entity tag (RFC 9110 8.8.3)', () => {
    const opaque = of('abcXYZ019!#\\,*/W~é');
    fc.assert(
      fc.property(fc.array(opaque, { minLength: 1 }), (tags) => {
        const field = tags.map(formatEntityTag).join(', ');
        expect(parseEntityTags(field)).to.deep.equal(tags.map((tag) => ({ weak: false, opaque: tag })));
      }),
    );
  });

  it('round-trips every media type (RFC 9110 8.3.1)', () => {
    fc.assert(
      fc.property(
        token,
        token,
        fc.dictionary(
          token.map((name) => name.toLowerCase()),
          printable,
        ),
        (type, subtype, parameters) => {
          const written = Object.entries(parameters).map(([name, value]) => `; ${name}=${quote(value)}`);
          const media = parseMediaType(`${type}/${subtype}${written.join('')}`);
          expect(media?.essence).to.equal(`${type}/${subtype}`.toLowerCase());
          expect([...media!.parameters]).to.deep.equal(Object.entries(parameters));
        },
      ),
    );
  });

  it('round-trips every preference (RFC 7240 2)', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          token.map((name) => name.toLowerCase()),
          printable,
        ),
        (preferences) => {
          const field = Object.entries(preferences).map(([name, value]) => `${name}=${quote(value)};x=${quote(value)}`);
          const read = [...parsePrefer(field.join(','))].map(([name, { value, parameters }]) => [
            name,
            value,
            parameters.get('x'),
          ]);
          expect(read).to.deep.equal(Object.entries(preferences).map(([name, value]) => [name, value, value]));
        },
      ),
    );
  });

  it('round-trips every link (RFC 8288 3)', () => {
    const name = token.map((text) => text.toLowerCase()).filter((text) => text !== 'rel');
    const link = fc.tuple(fc.webUrl(), of('abcdef-.', 1), fc.dictionary(name, printable));
    fc.assert(
      fc.property(fc.array(link), (links) => {
        const field = links
          .map(([target, relation, attributes]) => formatLink(target, relation, attributes))
          .join(', ');
        const read = parseLinks(field)?.map((one) => [one.target, ...one.relations, [...one.attributes]]);
        expect(read).to.deep.equal(
          links.map(([target, relation, attributes]) => [target, relation, Object.entries(attributes)]),
        );
      }),
    );
  });

  it('formats a link of arbitrary strings as one well-formed link in printable ASCII (RFC 8288 3)', () => {
    const any = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(any, any, any, (target, relation, title) => {
        const field = formatLink(target, relation, { title });
        expect(field).to.match(/^[\x20-\x7e]*$/);
        expect(parseLinks(field)).to.have.length(1);
      }),
    );
  });

  it('round-trips every digest (RFC 9530 2)', () => {
    const digest = fc.oneof(
      fc.tuple(fc.constant<DigestAlgorithm>('sha-256'), fc.uint8Array({ minLength: 32, maxLength: 32 })),
      fc.tuple(fc.constant<DigestAlgorithm>('sha-512'), fc.uint8Array({ minLength: 64, maxLength: 64 })),
    );
    fc.assert(
      fc.property(digest, ([algorithm, bytes]) => {
        expect([...parseDigests(formatDigest(algorithm, bytes))!]).to.deep.equal([[algorithm, bytes]]);
      }),
    );
  });

  it('round-trips every date, to the second (RFC 9110 5.6.7)', () => {
    fc.assert(
      fc.property(fc.integer({ min: -62_167_219_200_000, max: 253_402_300_799_999 }), (time) => {
        expect(parseHttpDate(formatHttpDate(time))).to.equal(Math.floor(time / 1000) * 1000);
      }),
    );
  });

  it('parses a satisfiable range to one within the representation (RFC 9110 14.1.2)', () => {
    const digits = fc.oneof(fc.nat({ max: 200 }).map(String), of('0123456789'));
    fc.assert(
      fc.property(digits, digits, fc.nat({ max: 100 }), (first, last, size) => {
        const range = parseByteRange(`bytes=${first}-${last}`, size);
        if (typeof range !== 'object') return;
        expect(range.start).to.be.within(0, range.end);
        expect(range.end).to.be.below(size);
        expect(formatContentRange(range, size)).to.match(/^bytes \d+-\d+\/\d+$/);
      }),
    );
  });

  it('chooses a media type with the highest quality (RFC 9110 12.5.1)', () => {
    const range = fc.constantFrom('*/*', 'text/*', 'text/turtle', 'text/html', 'application/ld+json;profile=x', 'a/b');
    const weighed = fc.tuple(range, fc.constantFrom('', ';q=0', ';q=0.5', ';q=1')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(weighed, { minLength: 1 }), (members) => {
        const ranges = parseAccept(members.join(','))!;
        const highest = Math.max(...offers.map((offer) => qualityOf(ranges, offer)));
        const chosen = chooseMediaType(ranges, offers);
        expect(chosen === undefined ? 0 : qualityOf(ranges, chosen)).to.equal(highest);
      }),
    );
  });

  for (const [name, parse] of Object.entries(parsers)) {
    it(`${name} never throws (RFC 9110 2.4)`, () => {
      fc.assert(
        fc.property(fc.oneof(fc.string({ unit: 'binary' }), syntax, printable), (field) => void parse(field)),
        { numRuns: runs(2000) },
      );
    });

    it(`${name} takes linear time on 16 KiB of hostile repetition (RFC 9110 17.5)`, () => {
      for (const prefix of prefixes)
        for (const unit of units)
          for (const suffix of suffixes) {
            const field = prefix + unit.repeat((16_384 - prefix.length) / unit.length) + suffix;
            expect(
              quickest(() => parse(field)),
              JSON.stringify(field.slice(0, 30) + suffix),
            ).to.be.below(50);
          }
    });
  }
});

/**
 * Returns the milliseconds of CPU of the first run below the limit, or of the best of thirty runs, so that neither a pause of
 * the machine nor the first compilation of a parser has an effect. A parser of quadratic time needs seconds for each run.
 */
function quickest(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < 30 && best >= 50; attempt++) {
    const start = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(start);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}
