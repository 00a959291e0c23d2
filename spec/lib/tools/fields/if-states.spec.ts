/** `If` field (RFC 4918 10.4.2; rule 25.9). */
import { expect } from 'chai';
import { parseStateLists } from '../../../../lib/tools/fields/if-states.js';

const tagged = (opaque: string, negated = false, weak = false) => ({ negated, tag: { weak, opaque } });

describe('If field', () => {
  // The first three are the examples of RFC 4918 10.4.6, 10.4.7 and 10.4.9.
  for (const [field, lists] of [
    [
      '(<urn:uuid:181d4fae> ["I am an ETag"])(["I am another ETag"])',
      undefined, // Entity tags have no spaces (RFC 9110 8.8.3).
    ],
    ['(Not <urn:uuid:181d4fae> <urn:uuid:58f202ac>)', [[undefined, [{ negated: true }, { negated: false }]]]],
    [
      '</resource1>(<urn:uuid:181d4fae>[W/"A"]) (["B"])',
      [
        ['/resource1', [{ negated: false }, tagged('A', false, true)]],
        ['/resource1', [tagged('B')]],
      ],
    ],
    [
      '<https://a.example/b> (["x"])<https://a.example/c>(not ["y"])',
      [
        ['https://a.example/b', [tagged('x')]],
        ['https://a.example/c', [tagged('y', true)]],
      ],
    ],
    [' (["x"]) ', [[undefined, [tagged('x')]]]],
    ['(Not<DAV:no-lock>)', [[undefined, [{ negated: true }]]]],
  ] as const)
    it(`parses ${field} (rule 25.9)`, () => {
      const expected = lists?.map(([resource, conditions]) => ({ resource, conditions }));
      expect(parseStateLists(field)).to.deep.equal(expected);
    });

  for (const field of [
    ...['', 'garbage', '()', '(', ')', '(["x"]', '["x"]', '(["x")', '([x])', '(["x"]))', '(Not)', '(Not Not ["x"])'],
    ...['(Notx ["x"])', '(* )', '<a>(["x"])', '<https://a.example/>', '(["x"])<https://a.example/>(["x"])', '(<>)'],
    ...['<https://a.example/><https://b.example/>(["x"])', '(["x"]), (["y"])', '(<relative>)', '(["x"]) z'],
  ])
    it(`rejects ${field || 'an empty value'} (rule 25.9)`, () => {
      expect(parseStateLists(field)).to.equal(undefined);
    });

  it('parses long values in linear time (rule 25.9)', () => {
    expect(parseStateLists(`(["x"]${' '.repeat(100_000)}`)).to.equal(undefined);
    expect(parseStateLists('(["x"])'.repeat(20_000))).to.have.length(20_000);
    expect(parseStateLists(`(${'Not '.repeat(50_000)})`)).to.equal(undefined);
  });
});
