/** Relative references: the examples of RFC 3986 5.4, and other bases. */
import { expect } from 'chai';
import { resolveIri } from '../../../lib/rdf/resolve-iri.js';

const examples: Readonly<Record<string, string>> = {
  'g:h': 'g:h',
  g: 'http://a/b/c/g',
  './g': 'http://a/b/c/g',
  'g/': 'http://a/b/c/g/',
  '/g': 'http://a/g',
  '//g': 'http://g',
  '?y': 'http://a/b/c/d;p?y',
  'g?y': 'http://a/b/c/g?y',
  '#s': 'http://a/b/c/d;p?q#s',
  'g#s': 'http://a/b/c/g#s',
  'g?y#s': 'http://a/b/c/g?y#s',
  ';x': 'http://a/b/c/;x',
  'g;x': 'http://a/b/c/g;x',
  'g;x?y#s': 'http://a/b/c/g;x?y#s',
  '': 'http://a/b/c/d;p?q',
  '.': 'http://a/b/c/',
  './': 'http://a/b/c/',
  '..': 'http://a/b/',
  '../': 'http://a/b/',
  '../g': 'http://a/b/g',
  '../..': 'http://a/',
  '../../': 'http://a/',
  '../../g': 'http://a/g',
  '../../../g': 'http://a/g',
  '../../../../g': 'http://a/g',
  '/./g': 'http://a/g',
  '/../g': 'http://a/g',
  'g.': 'http://a/b/c/g.',
  '.g': 'http://a/b/c/.g',
  'g..': 'http://a/b/c/g..',
  '..g': 'http://a/b/c/..g',
  './../g': 'http://a/b/g',
  './g/.': 'http://a/b/c/g/',
  'g/./h': 'http://a/b/c/g/h',
  'g/../h': 'http://a/b/c/h',
  'g;x=1/./y': 'http://a/b/c/g;x=1/y',
  'g;x=1/../y': 'http://a/b/c/y',
  'g?y/./x': 'http://a/b/c/g?y/./x',
  'g?y/../x': 'http://a/b/c/g?y/../x',
  'g#s/./x': 'http://a/b/c/g#s/./x',
  'g#s/../x': 'http://a/b/c/g#s/../x',
  'http:g': 'http:g',
  'http://x/a/../b': 'http://x/b',
};

describe('A relative reference', () => {
  it('is resolved as in RFC 3986', () => {
    const found = Object.keys(examples).map((reference) => [reference, resolveIri(reference, 'http://a/b/c/d;p?q')]);
    expect(Object.fromEntries(found)).to.deep.equal(examples);
  });

  it('is resolved against bases without a path, with a fragment, and without an authority', () => {
    expect(resolveIri('g', 'http://a')).to.equal('http://a/g');
    expect(resolveIri('?y', 'http://a')).to.equal('http://a?y');
    expect(resolveIri('', 'http://a/b#c')).to.equal('http://a/b');
    expect(resolveIri('g', 'urn:a/b')).to.equal('urn:a/g');
    expect(resolveIri('#x', 'urn:a:b')).to.equal('urn:a:b#x');
  });

  it('stays unchanged without a base', () => {
    expect(resolveIri('g', '')).to.equal('g');
    expect(resolveIri('a b', '')).to.equal('a b');
  });
});
