/** Parsers of rendered text, loaded with the first one. */
export { dsvFormat } from 'd3-dsv';
export { markdown } from './markdown.js';
