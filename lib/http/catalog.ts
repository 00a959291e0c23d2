/** Describes the storage as a DCAT catalog of its data and services (rule 12.9), with the properties required by DCAT-AP 3. */

/** Entry of a service in the storage description. */
interface Service {
  readonly type: string;
  readonly serviceEndpoint: string;
}

/** Texts of the catalog. `null`: a text with the address of the storage is used. */
export interface CatalogTexts {
  readonly title: string | null;
  readonly description: string | null;
  /** Name of the publisher. */
  readonly publisher: string | null;
}

const dcat = 'http://www.w3.org/ns/dcat#';
const dct = 'http://purl.org/dc/terms/';
const foaf = 'http://xmlns.com/foaf/0.1/';

/** Path of the catalog below the system prefix. */
export const catalogPath = '/catalog';

/** Fragment of the dataset. It is at the SPARQL endpoint, if any, whose service description describes the same dataset. */
const data = '#data';

/** Returns a catalog node in JSON-LD without a context. @param root IRI of the storage @param at URL of the catalog document */
export function catalogNode(
  { root, at }: { readonly root: string; readonly at: string },
  services: readonly Service[],
  texts: CatalogTexts,
): object {
  const title = texts.title ?? `Storage ${new URL(root).host}${new URL(root).pathname.replace(/\/$/, '')}`;
  const titled = (text: string, description?: string): object => ({
    [`${dct}title`]: text,
    ...(description === undefined ? {} : { [`${dct}description`]: description }),
  });
  const endpoint = services.find(({ type }) => type === 'SparqlQueryService')?.serviceEndpoint;
  // A service may have two entries, by a name of LWS and by the IRI of its specification. They are merged.
  const endpoints = new Map<string, Service[]>();
  for (const entry of services)
    endpoints.set(entry.serviceEndpoint, [...(endpoints.get(entry.serviceEndpoint) ?? []), entry]);
  const dataset = `${endpoint ?? root}${data}`;
  return {
    ...{ '@id': root, '@type': `${dcat}Catalog` },
    ...titled(title, texts.description ?? `Data and services of ${root}`),
    [`${dct}publisher`]: {
      ...{ '@id': `${root}#publisher`, '@type': `${foaf}Agent` },
      [`${foaf}name`]: texts.publisher ?? title,
    },
    [`${foaf}isPrimaryTopicOf`]: { '@id': at },
    [`${dcat}dataset`]: {
      ...{ '@id': dataset, '@type': `${dcat}Dataset` },
      ...titled(`Data of ${title}`, `The RDF resources of ${root} that the caller may read.`),
    },
    [`${dcat}service`]: [...endpoints].map(([url, entries]) => ({
      ...{ '@id': url, '@type': `${dcat}DataService` },
      ...titled(`${entries.map(({ type }) => nameOfType(type)).join(', ')} of ${title}`),
      [`${dcat}endpointURL`]: { '@id': url },
      ...(url === endpoint ? { [`${dcat}servesDataset`]: { '@id': dataset } } : {}),
      [`${dct}conformsTo`]: entries.flatMap(({ type }) => (/^https?:/.test(type) ? [{ '@id': type }] : [])),
    })),
  };
}

const nameOfType = (type: string): string => type.split(/[/#]/).findLast((part) => part !== '')!;
