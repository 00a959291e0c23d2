/** Returns validation results as RDF (SHACL 3.6), as JSON, and as errors. */
import type { BlankNode, Literal, NamedNode, Quad } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';
import { isBlank, isIri, type TermKey, termOf } from '../../lib/query/access/terms.js';
import { type RdfFormat, rdfFormats } from '../../lib/rdf/formats.js';
import { serializeRdf } from '../../lib/rdf/serialize.js';
import { lws, rdf, xsd } from '../../lib/rdf/vocabulary.js';
import { LwsError } from '../../lib/tools/errors.js';
import { chooseMediaType, parseAccept } from '../../lib/tools/fields/accept.js';
import { formatLink } from '../../lib/tools/fields/link.js';
import type { Result } from './model.js';
import { type Path, pathText } from './paths.js';
import { constrainedBy, sh, violation } from './vocabulary.js';

const factory = new DataFactory<Quad>();
type Node = NamedNode | BlankNode;

/** Returns the violations. Warnings and infos are reported, but do not reject a write (rule 23.4). */
export const violationsOf = (results: readonly Result[]): Result[] =>
  results.filter(({ severity }) => severity === violation);

/** Returns a report as triples. @param showsShapes true to include the source shapes, for callers who can read them */
function reportQuads(results: readonly Result[], showsShapes: boolean): Quad[] {
  const quads: Quad[] = [];
  const says = (subject: Node, predicate: string, object: Node | Literal | Quad): void =>
    void quads.push(factory.quad(subject, factory.namedNode(predicate), object));
  const iri = (value: string): NamedNode => factory.namedNode(value);
  const list = (members: readonly Node[]): Node => {
    let rest: Node = iri(rdf.nil);
    for (const member of members.toReversed()) {
      const node = factory.blankNode();
      says(node, rdf.first, member);
      says(node, rdf.rest, rest);
      rest = node;
    }
    return rest;
  };
  const pathNode = (path: Path): Node => {
    if (path.kind === 'predicate') return iri(path.iri);
    if (path.kind === 'sequence') return list(path.paths.map(pathNode));
    const node = factory.blankNode();
    const inner = 'paths' in path ? list(path.paths.map(pathNode)) : pathNode(path.path);
    says(node, `${sh}${path.kind}Path`, inner);
    return node;
  };
  // Converts a term of the shapes. Its label gets a prefix, because the data can use the same labels.
  const ofShapes = (token: TermKey): Node => {
    const term = termOf(token);
    return isBlank(token) ? factory.blankNode(`shape-${term.value}`) : (term as Node);
  };
  const report = factory.blankNode();
  says(report, rdf.type, iri(`${sh}ValidationReport`));
  says(report, `${sh}conforms`, factory.literal(String(results.length === 0), iri(xsd.boolean)));
  for (const each of results) {
    const { focus, path, value, component, shape, severity, messages } = each;
    const result = factory.blankNode();
    says(report, `${sh}result`, result);
    says(result, rdf.type, iri(`${sh}ValidationResult`));
    says(result, `${sh}focusNode`, termOf(focus));
    if (path) says(result, `${sh}resultPath`, pathNode(path));
    if (value !== undefined) says(result, `${sh}value`, termOf(value));
    says(result, `${sh}resultSeverity`, iri(severity));
    says(result, `${sh}sourceConstraintComponent`, iri(component));
    if (showsShapes) says(result, `${sh}sourceShape`, ofShapes(shape));
    if (showsShapes && messages.length > 0)
      for (const message of messages) says(result, `${sh}resultMessage`, termOf(message));
    else says(result, `${sh}resultMessage`, factory.literal(sentenceOf(each, showsShapes), 'en'));
  }
  return quads;
}

const prefixes = { sh, xsd: xsd.namespace };

/** Serializes a report. */
export const writeReport = (results: readonly Result[], format: RdfFormat, showsShapes: boolean): Buffer =>
  Buffer.from(serializeRdf(reportQuads(results, showsShapes), format, { base: '', prefixes }));

/** Returns the RDF syntax if `Accept` prefers one over JSON. @param others JSON media types; the first one wins ties */
export function reportFormat(accept: string | undefined, others: readonly string[]): RdfFormat | undefined {
  const ranges = accept === undefined ? undefined : parseAccept(accept);
  const chosen = ranges && chooseMediaType(ranges, [...others, ...rdfFormats]);
  return chosen === undefined || others.includes(chosen) ? undefined : (chosen as RdfFormat);
}

const textOf = (token: TermKey): string => termOf(token).value;
const pathOf = (path: Path): string => pathText(path, (each) => `<${each}>`);
const constraintOf = ({ component }: Result): string => component.slice(sh.length).replace(/ConstraintComponent$/, '');

/** Returns the message of a result. For callers without read access to the shapes, it contains nothing from them. */
export function sentenceOf(result: Result, showsShapes: boolean): string {
  const { messages, sentence, path, focus } = result;
  if (showsShapes) return messages.map(textOf).join(' ') || sentence;
  const node = isIri(focus) ? `<${textOf(focus)}>` : isBlank(focus) ? `_:${textOf(focus)}` : `"${textOf(focus)}"`;
  return `${path ? `${pathOf(path)} of ` : ''}${node} violates the constraint ${constraintOf(result)}`;
}

/** Returns a result as JSON. */
export const resultJson = (result: Result, showsShapes: boolean): object => {
  const { focus, path, value, severity, shape } = result;
  return {
    focus: textOf(focus),
    ...(path && { path: pathOf(path) }),
    ...(value !== undefined && { value: textOf(value) }),
    constraint: constraintOf(result),
    severity: severity.startsWith(sh) ? severity.slice(sh.length) : severity,
    message: sentenceOf(result, showsShapes),
    ...(showsShapes && !isBlank(shape) && { shape }),
  };
};

/** Maximum results in a JSON document. RDF reports contain all results. */
export const maxListed = 100;

/** Parts of the results that a caller may see. */
export interface Disclosure {
  /** True if the caller can read the shapes. */
  readonly shapes: boolean;
  /** True if the caller can read the resource, or has written its complete content. */
  readonly data: boolean;
}

/** Returns the `Link` value with links to the storage and to the shapes. */
export const shapesLinks = (root: string, shapes: readonly string[]): string =>
  [formatLink(root, lws.storage), ...shapes.map((each) => formatLink(each, constrainedBy))].join(', ');

/** Maximum characters of the `detail` of an error. */
const longestDetail = 1000;

/** Returns the error for data that violates shapes. */
export function violationError(
  results: readonly Result[],
  { shapes, data }: Disclosure,
  { root, constraint }: { readonly root: string; readonly constraint: readonly string[] },
): LwsError {
  const lead = 'The data violates its shapes.';
  const fields: Record<string, string> = shapes ? { Link: shapesLinks(root, constraint) } : {};
  if (!data)
    return new LwsError('shape-violation', `${lead} You cannot read the resource and its violations.`, { fields });
  const violations = violationsOf(results);
  const more = violations.length === 1 ? '' : ` Violations in total: ${violations.length}.`;
  const detail = `${lead} ${sentenceOf(violations[0]!, shapes).slice(0, longestDetail)}.${more}`;
  return new LwsError('shape-violation', detail, {
    fields,
    members: { violations: results.slice(0, maxListed).map((each) => resultJson(each, shapes)) },
    describe: (accept) => {
      const format = reportFormat(accept, ['application/problem+json', 'application/json']);
      return format && { mediaType: format, body: writeReport(results, format, shapes) };
    },
  });
}
