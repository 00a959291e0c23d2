/** Tests of the W3C suites of RDF formats that the server does not pass, each with the rule. A test that passes must leave this list. */
export const skippedRdfTests: Readonly<Record<string, readonly string[]>> = {};
