/** SHACL IRIs, and the error for shapes that cannot be applied. */
export const sh = 'http://www.w3.org/ns/shacl#';
export const violation = `${sh}Violation`;
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
export const subClassOf = `${rdfs}subClassOf`;
/** Types of classes. A shape with such a type has its instances as targets (SHACL 2.1.3.3). */
export const classTypes: readonly string[] = [`${rdfs}Class`, 'http://www.w3.org/2002/07/owl#Class'];
export const constrainedBy = 'http://www.w3.org/ns/ldp#constrainedBy';

/**
 * Properties in the SHACL namespace that are rejected, because they could change the meaning of a shape but are not evaluated:
 * from SHACL-SPARQL, Advanced Features and JavaScript Extensions (vocabulary of 2017), and from SHACL 1.2 drafts. Properties of
 * results and functions are not included.
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

/** Thrown if a shapes graph cannot be applied. The message names the construct. */
export class UnusableShapes extends Error {}
