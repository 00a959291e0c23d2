/** HTTP dates. Must not depend on their use. */
import { expect } from 'chai';
import { formatHttpDate, parseHttpDate } from '../../../../lib/tools/fields/date.js';

const example = Date.UTC(1994, 10, 6, 8, 49, 37);
const now = Date.UTC(2026, 5, 15, 12, 0, 0);

describe('fields/date', () => {
  it('reads IMF-fixdate (RFC 9110 5.6.7)', () => {
    expect(parseHttpDate('Sun, 06 Nov 1994 08:49:37 GMT')).to.equal(example);
  });

  it('reads the obsolete format of RFC 850 (RFC 9110 5.6.7)', () => {
    expect(parseHttpDate('Sunday, 06-Nov-94 08:49:37 GMT', now)).to.equal(example);
  });

  it('reads the obsolete format of asctime (RFC 9110 5.6.7)', () => {
    expect(parseHttpDate('Sun Nov  6 08:49:37 1994')).to.equal(example);
    expect(parseHttpDate('Wed Nov 16 08:49:37 1994')).to.equal(Date.UTC(1994, 10, 16, 8, 49, 37));
  });

  it('interprets a year of two digits as at most fifty years ahead (RFC 9110 5.6.7)', () => {
    expect(parseHttpDate('Monday, 15-Jun-76 12:00:00 GMT', now)).to.equal(Date.UTC(2076, 5, 15, 12));
    expect(parseHttpDate('Monday, 15-Jun-76 12:00:01 GMT', now)).to.equal(Date.UTC(1976, 5, 15, 12, 0, 1));
    expect(parseHttpDate('Monday, 29-Feb-00 00:00:00 GMT', now)).to.equal(Date.UTC(2000, 1, 29));
    expect(parseHttpDate('Monday, 29-Feb-26 00:00:00 GMT', now)).to.equal(undefined);
  });

  it('rejects every other format (RFC 9110 5.6.7)', () => {
    for (const field of [
      '',
      '0',
      '2020',
      '2020-01-01',
      '1994-11-06T08:49:37Z',
      '784111777',
      'now',
      '06 Nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 08:49:37',
      'Sun, 06 Nov 1994 08:49:37 UTC',
      'Sun, 06 Nov 1994 08:49:37 +0000',
      'Sun, 6 Nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 94 08:49:37 GMT',
      'Sun, 06-Nov-1994 08:49:37 GMT',
      'Sunday, 06-Nov-1994 08:49:37 GMT',
      'Sun,  06 Nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 8:49:37 GMT',
      'Sun, 06 Nov 1994 08:49 GMT',
      ' Sun, 06 Nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 08:49:37 GMT\n',
      'Sun Nov 6 08:49:37 1994',
      'Sun Nov  6 08:49:37 1994 GMT',
      'Sun Nov  6 08:49:37 94',
    ])
      expect(parseHttpDate(field, now), field).to.equal(undefined);
  });

  it('is case-sensitive, and rejects other names (RFC 9110 5.6.7)', () => {
    for (const field of [
      'sun, 06 Nov 1994 08:49:37 GMT',
      'Sun, 06 nov 1994 08:49:37 GMT',
      'Sun, 06 Nov 1994 08:49:37 gmt',
      'Son, 06 Nov 1994 08:49:37 GMT',
      'Tueday, 06-Nov-94 08:49:37 GMT',
    ])
      expect(parseHttpDate(field, now), field).to.equal(undefined);
  });

  it('rejects nonexistent days and times (RFC 9110 5.6.7, RFC 5322 3.3)', () => {
    for (const field of [
      'Sun, 00 Nov 1994 08:49:37 GMT',
      'Sun, 31 Nov 1994 08:49:37 GMT',
      'Sun, 29 Feb 1900 08:49:37 GMT',
      'Sun, 06 Nov 1994 24:00:00 GMT',
      'Sun, 06 Nov 1994 08:60:37 GMT',
      'Sun, 06 Nov 1994 08:49:61 GMT',
    ])
      expect(parseHttpDate(field), field).to.equal(undefined);
    expect(parseHttpDate('Tue, 29 Feb 2000 00:00:00 GMT')).to.equal(Date.UTC(2000, 1, 29));
  });

  it('reads a leap second as the next second (RFC 9110 5.6.7)', () => {
    expect(parseHttpDate('Sat, 31 Dec 2016 23:59:60 GMT')).to.equal(Date.UTC(2017, 0, 1));
  });

  it('ignores a wrong name of the day (RFC 9110 5.6.7)', () => {
    expect(parseHttpDate('Mon, 06 Nov 1994 08:49:37 GMT')).to.equal(example);
  });

  it('reads years below 100 literally (RFC 9110 5.6.7)', () => {
    expect(new Date(parseHttpDate('Sat, 01 Jan 0050 00:00:00 GMT')!).toISOString()).to.equal(
      '0050-01-01T00:00:00.000Z',
    );
  });

  it('writes IMF-fixdate, floored to whole seconds (RFC 9110 5.6.7)', () => {
    expect(formatHttpDate(example + 999)).to.equal('Sun, 06 Nov 1994 08:49:37 GMT');
    expect(formatHttpDate(-1)).to.equal('Wed, 31 Dec 1969 23:59:59 GMT');
  });
});
