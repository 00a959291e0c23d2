/** Random writes of several principals, applied to a storage and, if they succeed, to the model. Independent of the index. */
import fc from 'fast-check';
import { create } from '../../lib/resources/create.js';
import { remove } from '../../lib/resources/delete.js';
import { writeLinkset } from '../../lib/resources/linkset-write.js';
import { patch } from '../../lib/resources/patch.js';
import { replace } from '../../lib/resources/replace.js';
import type { Storage } from '../../lib/resources/storage.js';
import { LwsError } from '../../lib/tools/errors.js';
import { formatLink, type Link, parseLinks } from '../../lib/tools/fields/link.js';
import { root } from '../support/memory-store.js';
import { body, ownerAuthorizer } from '../support/storage.js';
import { absolute, contentOf, type Format, ntriples, relativeTurtle } from './search-content.js';
import { type Links, ldp, lws, type Model, rdfType, storageOwner, type Triple } from './search-model.js';

export const principals = [storageOwner, 'https://id.example/a', 'https://id.example/b', undefined] as const;
const open = ownerAuthorizer({ owners: [], publicRead: false, open: true });
const closed = ownerAuthorizer({ owners: [storageOwner], publicRead: false, open: false });

const vocabulary = 'https://v.example/';
export const types = ['T', 'Tü', 'T2'].map((name) => vocabulary + name);
export const predicates = [`${vocabulary}p`, `${vocabulary}ns#q`];
const names = ['a', 'b', 'aa', 'c/', 'c/a', 'c/b', 'c/d/', 'c/d/a'];
const linkNames = ['describedby', 'DescribedBy', 'license', 'acl', 'self', predicates[0]!, `${lws}other`, rdfType];
/** Targets of triples and links, and values of filters. */
export const targets = [...types, `${root}a`, `${root}a#me`, `${root}c/`, `${lws}Container`, `${ldp}Container`];

/** References. `+x` is the IRI of the resource followed by x: another resource with the same prefix. */
const subject = fc.constantFrom(
  '',
  '',
  '#me',
  '#',
  '#me2',
  '?q',
  '+x',
  '+/x',
  `${root}a`,
  `${root}aa`,
  '_:b',
  '_:http',
);
const objects = [
  ...targets,
  '',
  '#me',
  '_:b',
  `"${types[0]}"`,
  `"${types[0]}"@en`,
  '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
];
const typedLiteral = `"${types[0]}"^^<http://www.w3.org/2001/XMLSchema#anyURI>`;
const predicate = fc.constantFrom(rdfType, rdfType, ...predicates, `${lws}items`, `${ldp}contains`);
const triple = fc.tuple(subject, predicate, fc.constantFrom(...objects, typedLiteral));
const link = fc.oneof(
  fc.tuple(
    fc.constantFrom('type', 'type', 'Type'),
    fc.array(fc.constantFrom(...targets), { minLength: 1, maxLength: 2 }),
  ),
  fc.tuple(
    fc.constantFrom(...linkNames),
    fc.array(fc.constantFrom(...targets, 'x', '#me'), { minLength: 1, maxLength: 2 }),
  ),
);

const verbs = ['put', 'put', 'put', 'put', 'post', 'insert', 'insert', 'delete-data', 'delete-where'] as const;
const others = ['json-patch', 'put-links', 'put-links', 'merge-links', 'patch-links', 'delete', 'delete-tree'] as const;
export interface Step {
  readonly verb: (typeof verbs | typeof others)[number];
  readonly who: (typeof principals)[number];
  /** Open mode, with write access for all callers. */
  readonly open: boolean;
  readonly name: string;
  readonly format: Format;
  readonly triples: readonly Triple[];
  readonly links: readonly (readonly [string, readonly string[]])[];
  /** With Link fields and `Prefer: set-linkset`. */
  readonly setsLinks: boolean;
  readonly stale: boolean;
}
export const step: fc.Arbitrary<Step> = fc.record({
  verb: fc.constantFrom(...verbs, ...others),
  who: fc.constantFrom(...principals),
  open: fc.integer({ min: 0, max: 3 }).map((dice) => dice > 0),
  name: fc.constantFrom(...names),
  format: fc.constantFrom<Format>('turtle', 'turtle', 'jsonld', 'ntriples', 'rdfxml', 'trig', 'json', 'binary'),
  triples: fc.array(triple, { maxLength: 4 }),
  links: fc.uniqueArray(link, { maxLength: 3, selector: ([name]) => name }),
  setsLinks: fc.boolean(),
  stale: fc.integer({ min: 0, max: 9 }).map((dice) => dice === 0),
});

/** Containers with some members of random owners. */
export const beginning: fc.Arbitrary<readonly Step[]> = fc.tuple(
  ...['c/', 'c/d/', 'a', 'c/a', 'c/d/a'].map((name) =>
    step.map((each): Step => ({ ...each, name, verb: 'put', open: true, stale: false })),
  ),
);

/** Applies a step to the storage and, if it succeeds, to the model. @returns true if it succeeded */
export async function perform(storage: Storage, model: Model, step: Step): Promise<boolean> {
  try {
    await new Write({ ...storage, authorizer: step.open ? open : closed }, model, step).run();
    return true;
  } catch (error) {
    if (error instanceof LwsError) return false;
    throw error;
  }
}

class Write {
  private readonly iri: string;
  private readonly request;

  constructor(
    private readonly storage: Storage,
    private readonly model: Model,
    private readonly step: Step,
  ) {
    this.iri = root + step.name;
    const preconditions = { ifMatch: step.stale ? [{ weak: false, opaque: 'stale' }] : ('*' as const) };
    const access = step.who === undefined ? {} : { principal: { subject: step.who } };
    this.request = { iri: this.iri, access, preconditions, model: undefined };
  }

  async run(): Promise<void> {
    const { storage, request, model, iri } = this;
    const { verb } = this.step;
    if (verb === 'put') await this.put();
    else if (verb === 'post') await this.post();
    else if (verb === 'insert' || verb === 'delete-data' || verb === 'delete-where') await this.update(verb);
    else if (verb === 'json-patch') await this.patch('{"@type":null}', 'application/merge-patch+json');
    else if (verb === 'delete' || verb === 'delete-tree') {
      await remove(storage, { ...request, recursive: verb === 'delete-tree' });
      model.delete(iri);
    } else await this.writeLinks(verb);
  }

  /** Returns the links of the step as Link fields, with lower-case names. */
  private header(): { given: readonly Link[]; of: (iri: string) => Links } {
    const grouped = new Map<string, string[]>();
    for (const [name, refs] of this.step.links) {
      const lowered = name.includes(':') ? name : name.toLowerCase();
      grouped.set(lowered, [...(grouped.get(lowered) ?? []), ...refs.map(encodeURI)]);
    }
    const fields = [...grouped].flatMap(([name, refs]) => refs.map((target) => formatLink(target, name)));
    const of = (iri: string): Links =>
      [...grouped].map(([name, refs]) => [name, refs.map((ref) => new URL(ref, iri).href)]);
    return { given: parseLinks(fields.join())!, of };
  }

  private ownerOf(iri: string): string | undefined {
    return this.step.who ?? this.model.resources.get(parentOf(iri))?.owner;
  }

  private async put(): Promise<void> {
    const { storage, request, model, iri, step } = this;
    const isData = !iri.endsWith('/');
    const triples = absolute(step.triples, iri);
    const { given, of } = this.header();
    const { created } = await replace(storage, {
      ...request,
      preconditions: model.resources.has(iri) || step.stale ? request.preconditions : {},
      links: step.setsLinks ? given : undefined,
      body: isData ? body(...contentOf(step.format, triples)) : body(''),
    });
    const isRdf = isData && step.format !== 'json' && step.format !== 'binary';
    model.put(iri, { ...(created ? { owner: this.ownerOf(iri) } : {}), triples: isRdf ? triples : [] });
    if (step.setsLinks) model.setLinks(iri, of(iri));
  }

  private async post(): Promise<void> {
    const { storage, request, model, step } = this;
    const relative = step.triples.filter((each) => !each.join().includes('+'));
    const { given, of } = this.header();
    const { record } = await create(storage, {
      ...request,
      iri: parentOf(this.iri),
      preconditions: step.stale ? request.preconditions : {},
      links: given,
      slug: undefined,
      body: body(relativeTurtle(relative)),
    });
    model.put(record.iri, { owner: this.ownerOf(record.iri), triples: absolute(relative, record.iri) });
    model.setLinks(record.iri, of(record.iri));
  }

  private async patch(content: string, mediaType: string): Promise<void> {
    const { storage, request, model, iri, step } = this;
    const { given, of } = this.header();
    await patch(storage, { ...request, links: step.setsLinks ? given : undefined, body: body(content, mediaType) });
    if (step.setsLinks) model.mergeLinks(iri, of(iri));
  }

  private async update(verb: 'insert' | 'delete-data' | 'delete-where'): Promise<void> {
    const { model, iri, step } = this;
    const given = absolute(step.triples, iri);
    const before = model.resources.get(iri)?.triples ?? [];
    if (verb === 'delete-where') {
      await this.patch(`DELETE WHERE { ?s <${rdfType}> ?o }`, 'application/sparql-update');
      return model.put(iri, { triples: before.filter(([, predicate]) => predicate !== `<${rdfType}>`) });
    }
    const isInsert = verb === 'insert';
    await this.patch(`${isInsert ? 'INSERT' : 'DELETE'} DATA { ${ntriples(given)} }`, 'application/sparql-update');
    const texts = new Set(given.map((each) => each.join(' ')));
    model.put(iri, { triples: isInsert ? [...before, ...given] : before.filter((each) => !texts.has(each.join(' '))) });
  }

  private async writeLinks(verb: 'put-links' | 'merge-links' | 'patch-links'): Promise<void> {
    const { storage, request, model, iri, step } = this;
    const value = (refs: readonly string[]): object[] => refs.map((href) => ({ href }));
    const object = Object.fromEntries(step.links.map(([name, refs]) => [name, value(refs)]));
    const operations = step.links.flatMap(([name, refs]) =>
      name === 'type'
        ? value(refs).map((each) => ({ op: 'add', path: '/type/-', value: each }))
        : [{ op: 'add', path: `/${name.replaceAll('/', '~1')}`, value: value(refs) }],
    );
    const documents = {
      'put-links': [{ linkset: [object] }, 'application/linkset+json'],
      'merge-links': [{ ...object, license: null }, 'application/merge-patch+json'],
      'patch-links': [operations, 'application/json-patch+json'],
    } as const;
    const [document, mediaType] = documents[verb];
    await writeLinkset(storage, { ...request, body: body(JSON.stringify(document), mediaType) }, verb === 'put-links');
    if (verb === 'put-links') return model.setLinks(iri, step.links);
    const links = new Map(model.resources.get(iri)?.links);
    const types = links.get('type') ?? [];
    for (const [name, refs] of step.links)
      links.set(name, name === 'type' && verb === 'patch-links' ? [...types, ...refs] : refs);
    if (verb === 'merge-links') links.delete('license');
    model.setLinks(iri, links);
  }
}

const parentOf = (iri: string): string => iri.replace(/[^/]+\/?$/, '');
