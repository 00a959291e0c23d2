/** Assertions about responses, shared by the conformance suite. */
import { expect } from 'chai';
import httpLink from 'http-link-header';
import type { StorageUnderTest } from './conformance.js';
import { lws } from './conformance.js';
import type { Answer } from './http.js';
import { mediaType } from './rdf.js';

export interface LinkValue {
  readonly uri: string;
  readonly rel: string;
  readonly type?: string;
}

/** Returns the Link values of a response, one for each relation. */
export function linksOf({ headers }: Answer): LinkValue[] {
  const { refs } = httpLink.parse(headers['link'] ?? '');
  return refs.flatMap((ref) => ref.rel.split(' ').map((rel) => ({ ...ref, rel }) as LinkValue));
}

/** Returns the link targets of a relation. */
export const linked = (answer: Answer, rel: string): string[] =>
  linksOf(answer).flatMap((link) => (link.rel === rel ? [link.uri] : []));

/** Returns the elements of a list-valued field, in lower case. */
export const listOf = (answer: Answer, name: string): string[] =>
  (answer.headers[name] ?? '')
    .split(',')
    .map((element) => element.trim().toLowerCase())
    .filter((element) => element !== '');

/** Asserts a problem document (rule 10.1) with the status, or one of several. */
export function expectProblem(
  answer: Answer | undefined,
  status: number | readonly number[],
  storage?: StorageUnderTest,
): void {
  if (!answer) throw new Error('the connection closed without a response');
  expect(answer.status, answer.text).to.be.oneOf([status].flat());
  expect(mediaType(answer), answer.text).to.equal('application/problem+json');
  const problem = JSON.parse(answer.text) as Record<string, unknown>;
  expect(problem['status']).to.equal(answer.status);
  expect(problem['type']).to.match(/^(?:about:blank|[a-z][a-z0-9+.-]*:\S+)$/i);
  expect(problem['title']).to.be.a('string').and.not.equal('');
  expect(problem['detail']).to.be.a('string').and.not.equal('');
  expect(problem['instance']).to.match(/^urn:uuid:[0-9a-f-]{36}$/);
  if (storage) expect(linked(answer, `${lws}storage`)).to.deep.equal([storage.root]);
}

/** Asserts a problem document for a request whose header section is malformed. Its `instance` is tested in errors.spec.ts. */
export function expectUnparsed(answer: Answer | undefined, status: number | readonly number[]): void {
  if (!answer) throw new Error('the connection closed without a response');
  expect(answer.status, answer.text).to.be.oneOf([status].flat());
  expect(mediaType(answer), answer.text).to.equal('application/problem+json');
  expect(JSON.parse(answer.text)).to.have.property('detail').that.is.a('string');
}

/** Asserts a 401 response with challenges (rule 15.1). */
export function expectChallenge(answer: Answer, storage: StorageUnderTest, error?: string): void {
  expectProblem(answer, 401, storage);
  const field = answer.headers['www-authenticate'] ?? '';
  expect(field).to.match(/(?:^|, )Bearer /);
  expect(field).to.include(`realm="${storage.root}"`);
  if (error === undefined) expect(field).not.to.include('error=');
  else expect(field).to.include(`error="${error}"`);
}
