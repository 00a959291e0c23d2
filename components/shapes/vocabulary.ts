/** IRIs of SHACL, and the error for shapes that cannot be applied. */
export const sh = 'http://www.w3.org/ns/shacl#';
export const violation = `${sh}Violation`;
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
export const subClassOf = `${rdfs}subClassOf`;
/** Types that make a shape the target of its own instances (SHACL 2.1.3.3). */
export const classTypes: readonly string[] = [`${rdfs}Class`, 'http://www.w3.org/2002/07/owl#Class'];
export const constrainedBy = 'http://www.w3.org/ns/ldp#constrainedBy';

/** A shapes graph that cannot be applied. The message is a sentence that names the construct. */
export class UnusableShapes extends Error {}
