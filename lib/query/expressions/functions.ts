/** The functions that are compiled, by the names that the algebra has for them. What makes triples of terms is not. */
import type { Makes } from './function-forms.js';
import { hashFunctions } from './functions-hash.js';
import { numericFunctions } from './functions-numeric.js';
import { patternFunctions } from './functions-patterns.js';
import { termFunctions } from './functions-terms.js';
import { textFunctions } from './functions-text.js';
import { timeFunctions } from './functions-time.js';

export const functions: Makes = {
  ...termFunctions,
  ...textFunctions,
  ...patternFunctions,
  ...numericFunctions,
  ...timeFunctions,
  ...hashFunctions,
};
