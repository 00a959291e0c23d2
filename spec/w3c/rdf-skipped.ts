/** Tests of the W3C suites of RDF formats that the server does not pass, each with the reason. A test that passes must leave this list. */
export const skippedRdfTests: Readonly<Record<string, readonly string[]>> = {
  'JSON-LD 1.0: the server has the processing mode json-ld-1.1 alone': [
    ...['toRdf#tc029', 'toRdf#te014', 'toRdf#te026', 'toRdf#te071', 'toRdf#te115', 'toRdf#te116', 'toRdf#tep02'],
    ...['toRdf#ter21', 'toRdf#ter24', 'toRdf#ter32', 'toRdf#ter42', 'toRdf#ttn01'],
  ],
  'the option produceGeneralizedRdf is not offered: a blank node is no predicate of RDF 1.1': [
    'toRdf#t0118',
    'toRdf#te075',
  ],
  'the option expandContext is not offered': ['toRdf#te077'],
  'literals with a base direction are refused (unsupported-rdf)': [
    ...['toRdf#tdi01', 'toRdf#tdi02', 'toRdf#tdi03', 'toRdf#tdi04', 'toRdf#tdi05', 'toRdf#tdi06'],
    ...['toRdf#tdi09', 'toRdf#tdi10', 'toRdf#tdi11', 'toRdf#tdi12'],
  ],
  'rule 1.6: a document with a term that RDF does not allow is refused, and none of its triples is left out': [
    ...['toRdf#tli12', 'toRdf#tli14', 'toRdf#twf05'],
  ],
  'the result leaves out an IRI with a second "#", which the server accepts, as the grammar of Turtle does': [
    ...['toRdf#te111', 'toRdf#te112'],
  ],
};
