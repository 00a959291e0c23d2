/** Reads the subjects of a graph page by page with SPARQL, if the graph is too large to be read at once. */
import { iriOf, type Quad, type Term, termText } from '../rdf/document.js';
import { type Binding, select, tagOfBinding } from '../storage/api.js';

export const subjectsAtOnce = 50;
/** Maximum count of triples on a page. */
const maxTriples = 5000;

/** @param page page number from 0 @param filter text in a statement of each subject @throws Refusal; Error if SPARQL is off */
export async function readSubjects(iri: string, page: number, filter: string): Promise<readonly Quad[]> {
  const graph = `GRAPH <${iri.replace(/[<>"{}|\\^`\s]/g, encodeURIComponent)}> { ?s ?p ?o }`;
  const text = 'LCASE(CONCAT(COALESCE(STR(?s), ""), " ", STR(?p), " ", COALESCE(STR(?o), "")))';
  const wanted = termText({ termType: 'Literal', value: filter.trim().toLowerCase() });
  const found = filter.trim() === '' ? graph : `${graph} FILTER(CONTAINS(${text}, ${wanted}))`;
  const subjects = `SELECT DISTINCT ?s { ${found} } ORDER BY ?s LIMIT ${subjectsAtOnce} OFFSET ${page * subjectsAtOnce}`;
  const rows = await select(`SELECT ?s ?p ?o { { ${subjects} } ${graph} } LIMIT ${maxTriples}`);
  if (!rows) throw new Error('Graphs above 5 MB are shown by queries, which this storage does not offer. Download it.');
  return rows.map(({ s, p, o }) => ({ subject: termOf(s!), predicate: termOf(p!), object: termOf(o!) }));
}

function termOf(binding: Binding): Term {
  const { type, value, datatype } = binding;
  if (typeof value !== 'string') {
    const [subject, predicate, object] = [value.subject, value.predicate, value.object].map(termOf);
    return { termType: 'Quad', value: '', subject: subject!, predicate: predicate!, object: object! };
  }
  const language = tagOfBinding(binding);
  if (type === 'uri') return iriOf(value);
  if (type === 'bnode') return { termType: 'BlankNode', value };
  return { termType: 'Literal', value, ...(language ? { language } : datatype ? { datatype: iriOf(datatype) } : {}) };
}
