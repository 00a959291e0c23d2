/** Storage with linksets, compared with a model. Independent of how links are stored. */
import { expect } from 'chai';
import fc from 'fast-check';
import { linksetState, writeLinkset } from '../../lib/resources/linkset-write.js';
import { linksetFaults } from '../../lib/resources/metadata.js';
import { replace } from '../../lib/resources/replace.js';
import type { StorageLimits } from '../../lib/resources/storage.js';
import { LwsError } from '../../lib/tools/errors.js';
import { root } from '../support/memory-store.js';
import { body, type SpecStorage, specStorage } from '../support/storage.js';
import { type Members, textOf } from './linkset-documents.js';
import * as model from './linkset-model.js';

export const linksetJson = 'application/linkset+json';
export const jsonPatch = 'application/json-patch+json';
export const mergePatch = 'application/merge-patch+json';

export const contents: Readonly<Record<string, readonly [body: string, type: string]>> = {
  container: ['', 'application/octet-stream'],
  rdf: ['<> <#p> 1 .', 'text/turtle'],
  json: ['{}', 'application/json'],
  binary: ['x', 'text/plain'],
};
export const kinds = fc.constantFrom(...Object.keys(contents), 'root');

export interface Seen {
  readonly text: string;
  readonly tag: string;
  readonly document: { readonly linkset: readonly [model.JsonObject] };
}

/** Canonical document, or the possible error codes. */
export type Expected = string | readonly string[];

export class Linksets {
  private count = 0;

  private constructor(readonly spec: SpecStorage) {}

  static async open(limits: Partial<StorageLimits> = {}): Promise<Linksets> {
    return new Linksets(await specStorage({ limits }));
  }

  /** Disposes of the storage and asserts that links and records are consistent. */
  async close(): Promise<void> {
    const faults: string[] = [];
    for await (const fault of linksetFaults(this.spec.storage.store)) faults.push(fault.text);
    await this.spec.dispose();
    expect(faults).to.deep.equal([]);
  }

  put(iri: string, kind: string, more = {}): Promise<unknown> {
    const request = { iri, access: {}, preconditions: {}, model: undefined, body: body(...contents[kind]!) };
    return replace(this.spec.storage, { ...request, ...more });
  }

  /** Creates a resource without links, or returns the root unchanged. */
  async resource(kind: string): Promise<model.Described> {
    const iri = kind === 'root' ? root : `${root}r${this.count++}${kind === 'container' ? '/' : ''}`;
    if (kind !== 'root') await this.put(iri, kind);
    return { iri, storage: root };
  }

  /** Creates a resource with links. */
  async start(kind: string, members: Members): Promise<model.Described> {
    const described = await this.resource(kind);
    expect(await this.write(described, documentText(members), linksetJson)).to.equal('ok');
    return described;
  }

  record({ iri }: model.Described) {
    return this.spec.storage.store.record(iri)!;
  }

  read(described: model.Described): Seen {
    const { storage } = this.spec;
    const { bytes, tag } = linksetState(storage, storage.store, this.record(described));
    const text = bytes.toString();
    return { text, tag, document: JSON.parse(text) };
  }

  /** Returns the client-managed part of a linkset. */
  client(described: model.Described): model.JsonObject {
    return model.clientPart(this.read(described).document.linkset[0], described);
  }

  /** Writes a linkset. @returns `ok`, or the error code */
  write({ iri }: model.Described, text: string, type: string, tag?: string): Promise<string> {
    const preconditions = { ifMatch: tag === undefined ? ('*' as const) : [{ weak: false, opaque: tag }] };
    const request = { iri, access: {}, preconditions, body: body(text, type) };
    return outcome(writeLinkset(this.spec.storage, request, type === linksetJson));
  }
}

export const documentText = (members: Members): string => `{"linkset":[${textOf(members)}]}`;

export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'ok';
  } catch (error) {
    if (error instanceof LwsError) return error.code;
    throw error;
  }
}

/** Returns the outcome of a write according to the model. */
export function expected(described: model.Described, work: () => model.JsonObject): Expected {
  try {
    return model.canonical(model.documentOf(described, work()));
  } catch (error) {
    if (error instanceof model.Refusal) return error.codes;
    throw error;
  }
}

/** Asserts the outcome. A rejected write leaves the document unchanged, byte by byte, and a new text has a new tag. */
export function expectOutcome(answer: string, wanted: Expected, before: Seen, after: Seen, why: string): void {
  if (typeof wanted === 'string') {
    expect(answer, why).to.equal('ok');
    expect(model.canonical(after.document), why).to.equal(wanted);
  } else {
    expect(wanted, why).to.include(answer);
    expect(after, why).to.deep.equal(before);
  }
  expect(after.tag === before.tag, `${why}: the tag changes with the text`).to.equal(after.text === before.text);
}
