/** Documents of shapes, and links to them, as clients write them (chapter 23 of the rules). */
import { expect } from 'chai';
import type { Sender, StorageUnderTest } from './conformance.js';
import type { Answer } from './http.js';
import { linksetOf, linksetType, metaOf } from './linkset.js';

export const constrainedBy = 'http://www.w3.org/ns/ldp#constrainedBy';
export const withShapes = { settings: { 'shapes.enabled': 'true' } };

export const prefixes = `@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix ex: <https://e.example/> .
`;

/** A person has one name, and an age that is an integer. */
export const personShapes = `${prefixes}
ex:PersonShape a sh:NodeShape ; sh:targetClass ex:Person ;
  sh:property [ sh:path ex:name ; sh:minCount 1 ; sh:maxCount 1 ] ;
  sh:property ex:AgeShape .
ex:AgeShape sh:path ex:age ; sh:datatype xsd:integer .
`;

/** Returns a person in Turtle. */
export const person = (properties = 'ex:name "Ada"'): string => `${prefixes}<#it> a ex:Person ; ${properties} .`;

/** Writes the links of a resource to documents of shapes. */
export function linkShapes(
  s: StorageUnderTest,
  iri: string,
  shapes: readonly string[],
  { headers = {}, sender }: { readonly headers?: Readonly<Record<string, string>>; readonly sender?: Sender } = {},
): Promise<Answer> {
  const links = shapes.length === 0 ? {} : { [constrainedBy]: shapes.map((href) => ({ href })) };
  const fields = { 'Content-Type': linksetType, 'If-Match': '*', ...headers };
  return s.send('PUT', metaOf(iri), fields, linksetOf(links), sender);
}

/** Creates a document of shapes and a container that is linked to it. */
export async function constrained(
  s: StorageUnderTest,
  shapes = personShapes,
): Promise<{ readonly shapes: string; readonly container: string }> {
  const { iri } = await s.stored('text/turtle', shapes);
  const container = await s.container();
  const answer = await linkShapes(s, container, [iri]);
  expect(answer.status, answer.text).to.equal(204);
  return { shapes: iri, container };
}

export interface Problem {
  readonly type: string;
  readonly detail: string;
  readonly violations?: readonly {
    readonly focus: string;
    readonly path?: string;
    readonly value?: string;
    readonly message: string;
    readonly shape?: string;
  }[];
  readonly resources?: readonly { readonly id: string }[];
}

/** Returns the problem of a rejected request. */
export function problemOf(answer: Answer, status = 422, code = 'shape-violation'): Problem {
  expect(answer.status, answer.text).to.equal(status);
  const problem = JSON.parse(answer.text) as Problem;
  expect(problem.type).to.equal(`urn:problem-type:quadpod:${code}`);
  return problem;
}
