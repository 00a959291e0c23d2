/** Maps terms of RO-Crate 1.1 and 1.2 metadata to IRIs. Fetches no context. */
import { isAbsoluteIri, isObject } from '../../lib/plugin/formats.js';

export const schemaOrg = 'http://schema.org/';
export const [fileType, datasetType] = [`${schemaOrg}MediaObject`, `${schemaOrg}Dataset`];

/** Terms for which the context of RO-Crate differs from schema.org. */
const ownTerms: Readonly<Record<string, string>> = {
  File: fileType,
  Journal: `${schemaOrg}Periodical`,
  path: `${schemaOrg}contentUrl`,
  conformsTo: 'http://purl.org/dc/terms/conformsTo',
  wasDerivedFrom: 'http://www.w3.org/ns/prov#wasDerivedFrom',
  importedFrom: 'http://purl.org/pav/importedFrom',
  importedBy: 'http://purl.org/pav/importedBy',
  retrievedFrom: 'http://purl.org/pav/retrievedFrom',
  retrievedBy: 'http://purl.org/pav/retrievedBy',
  hasFile: 'http://pcdm.org/models#hasFile',
  hasMember: 'http://pcdm.org/models#hasMember',
  RepositoryCollection: 'http://pcdm.org/models#Collection',
  RepositoryObject: 'http://pcdm.org/models#object',
  ComputationalWorkflow: 'https://bioschemas.org/ComputationalWorkflow',
  FormalParameter: 'https://bioschemas.org/FormalParameter',
  input: 'https://bioschemas.org/ComputationalWorkflow#input',
  output: 'https://bioschemas.org/ComputationalWorkflow#output',
};

/** Maximum terms of inline contexts. */
const maxTerms = 10_000;

/** Maps terms to IRIs, using the context of the document. */
export class CrateTerms {
  private readonly own = new Map<string, string>();

  /** @param context value of `@context` */
  constructor(context: unknown) {
    for (const part of [context].flat())
      if (isObject(part))
        for (const [term, value] of Object.entries(part).slice(0, maxTerms)) {
          const iri = isObject(value) ? value['@id'] : value;
          if (typeof iri === 'string' && !term.startsWith('@')) this.own.set(term, iri);
        }
  }

  /** Returns the IRI of a term. Undefined if the term is not defined, or its definition is not an absolute IRI. */
  iri(name: string): string | undefined {
    // A term may be defined by another term. Only one level is followed, so that cycles end.
    const defined = this.own.get(name);
    const found = defined === undefined ? this.plain(name) : (this.plain(defined) ?? defined);
    return found !== undefined && isAbsoluteIri(found) ? found : undefined;
  }

  private plain(name: string): string | undefined {
    if (name.startsWith('@')) return undefined;
    const colon = name.indexOf(':');
    if (colon >= 0) {
      const prefix = name.startsWith('//', colon + 1) ? undefined : this.own.get(name.slice(0, colon));
      return prefix === undefined ? name : prefix + name.slice(colon + 1);
    }
    if (Object.hasOwn(ownTerms, name)) return ownTerms[name];
    return /^[A-Za-z][A-Za-z0-9]*$/.test(name) ? schemaOrg + name : undefined;
  }
}

/** Returns the shortest name for an IRI in a document without inline context. */
export function crateName(iri: string): string {
  const name = iri.startsWith(schemaOrg) ? iri.slice(schemaOrg.length) : '';
  const isPlain = /^[A-Za-z][A-Za-z0-9]*$/.test(name) && !Object.hasOwn(ownTerms, name);
  return isPlain ? name : iri;
}
