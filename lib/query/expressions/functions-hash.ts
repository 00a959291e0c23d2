/** Hash functions (SPARQL 1.1 17.4.6), written in lower case. */
import { hash } from 'node:crypto';
import { type Make, type Makes, ofString } from './function-forms.js';
import { textValue } from './values.js';

const hashOf = (algorithm: string): Make => ofString((text) => textValue(hash(algorithm, text, 'hex')));

export const hashFunctions: Makes = {
  md5: hashOf('md5'),
  sha1: hashOf('sha1'),
  sha256: hashOf('sha256'),
  sha384: hashOf('sha384'),
  sha512: hashOf('sha512'),
};
