/** Arguments of stored queries (rule 24.6; SPARQL 1.1 19.2, 19.8). */
import { expect } from 'chai';
import { argumentNames } from '../../../lib/query/parse/argument-names.js';

describe('Arguments of a stored query', () => {
  for (const [title, query, names] of [
    ['every variable with $, in the order of the text', 'SELECT * { ?s $p ?o FILTER(?o > $least) }', ['p', 'least']],
    ['a variable once, also if it has a question mark elsewhere', 'SELECT ?a { $a ?p $a ; ?q ?a }', ['a']],
    ['letters of all scripts, and digits', 'SELECT * { ?s ?p $größe, $1, $\u{1d4b3}, $ใช่, $_x }', null],
    ['escapes of characters', 'SELECT * { ?s ?p \\u0024x }', ['x']],
    ['variables of subqueries and SELECT', 'SELECT $s { { SELECT $s { $s ?p 1 } } }', ['s']],
    ['no $ in comments', '# costs $5, see $a\nSELECT * { ?s ?p ?o } # $b', []],
    ['no $ in strings', `SELECT * { ?s ?p "$a", '$b', """$c " $d""", '''$e\n'''@en, "\\"$f" }`, []],
    ['no $ in IRIs and names', 'PREFIX ex: <urn:$a> SELECT * { ?s <urn:x$b> ex:c\\$d }', []],
    ['no variables that the query assigns', 'SELECT ($a + 1 AS $b) { BIND($a AS $c) VALUES ($d) { (1) } }', ['a']],
    ['none with SERVICE', 'SELECT * { SERVICE <urn:x> { ?s ?p $o } }', []],
    ['none of a text that is not a query', 'SELECT $a', []],
    ['none of an unterminated string', 'SELECT * { ?s ?p "$a }', []],
  ] as const)
    it(`are ${title} (rule 24.6)`, async () => {
      const expected = names ?? ['größe', '1', '\u{1d4b3}', 'ใช่', '_x'];
      expect(await argumentNames(query, 'http://localhost/q')).to.deep.equal(expected);
      expect(await argumentNames(query, 'http://localhost/q'), 'again').to.deep.equal(expected);
    });
});
