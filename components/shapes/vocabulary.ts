/** IRIs of SHACL, and the error for shapes that cannot be applied. */
export const sh = 'http://www.w3.org/ns/shacl#';
export const violation = `${sh}Violation`;
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
export const subClassOf = `${rdfs}subClassOf`;
/** Types that make a shape the target of its own instances (SHACL 2.1.3.3). */
export const classTypes: readonly string[] = [`${rdfs}Class`, 'http://www.w3.org/2002/07/owl#Class'];
export const constrainedBy = 'http://www.w3.org/ns/ldp#constrainedBy';

/**
 * Properties of the SHACL namespace that could change what a shape demands and are not evaluated: of SHACL-SPARQL, Advanced Features
 * and JavaScript Extensions (vocabulary of 2017), and of the drafts of SHACL 1.2. Results and functions have the others.
 */
export const unsupported: ReadonlySet<string> = new Set(
  `alternativePath annotationProperty annotationValue annotationVarName ask bindings condition conforms construct count detail distinct
  else entailment exists expression filterShape focusNode groupBy if intersection inversePath js jsFunctionName jsLibrary jsLibraryURL
  labelTemplate limit max maxListLength memberShape min minListLength minus namespace nodeByExpression nodeValidator nodes object offset
  oneOrMorePath optional orderBy parameter predicate prefix propertyValidator reificationRequired reifierShape result resultMessage
  resultPath resultSeverity returnType rootClass rule select shapesGraph shapesGraphWellFormed singleLine someValue sourceConstraint
  sourceConstraintComponent sourceShape sparql subject subsetOf suggestedShapesGraph sum target targetWhere then this union uniqueMembers
  uniqueValuesFor update validator value values zeroOrMorePath zeroOrOnePath`.split(/\s+/),
);

/** A shapes graph that cannot be applied. The message is a sentence that names the construct. */
export class UnusableShapes extends Error {}
