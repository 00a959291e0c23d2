/**
 * The storage against a model: random creates, replaces, patches, moves, copies and deletes of two clients that remember tags. All outcomes,
 * contents and listings are compared with a map in memory.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { create } from '../../lib/resources/create.js';
import { remove } from '../../lib/resources/delete.js';
import { jsonListing } from '../../lib/resources/membership.js';
import { move } from '../../lib/resources/move.js';
import { patch } from '../../lib/resources/patch.js';
import type { Preconditions } from '../../lib/resources/preconditions.js';
import { rdfRepresentation } from '../../lib/resources/read.js';
import { replace } from '../../lib/resources/replace.js';
import { checkStore } from '../../lib/storage/transactions/check.js';
import { LwsError } from '../../lib/tools/errors.js';
import { root } from '../support/memory-store.js';
import { runs } from '../support/speed.js';
import { body, type SpecStorage, specStorage } from '../support/storage.js';

const names = ['', 'a', 'b', 'c/', 'c/d', 'c/e', 'c/f/', 'c/f/g'] as const;
type Guard = 'none' | 'remembered' | 'any' | 'create-only';

interface Step {
  readonly client: 0 | 1;
  readonly verb: 'put' | 'patch' | 'delete' | 'delete-tree' | 'post' | 'look' | 'move' | 'copy';
  readonly name: (typeof names)[number];
  /** Destination of a move or copy. */
  readonly to: (typeof names)[number];
  readonly value: number;
  readonly guard: Guard;
}

const step: fc.Arbitrary<Step> = fc.record({
  client: fc.constantFrom(0, 1),
  verb: fc.constantFrom('put', 'put', 'patch', 'delete', 'delete-tree', 'post', 'look', 'move', 'move', 'copy'),
  name: fc.constantFrom(...names),
  to: fc.constantFrom(...names),
  value: fc.nat(3),
  guard: fc.constantFrom('none', 'remembered', 'remembered', 'any', 'create-only'),
});

interface State {
  /** Values of a data resource. `undefined` for a container. */
  values: Set<number> | undefined;
  version: number;
}

const parentName = (name: string): string => name.replace(/[^/]+\/?$/, '');
const isContainer = (name: string): boolean => name === '' || name.endsWith('/');

/** True if a name is another, or below it. */
const isWithin = (outer: string, name: string): boolean =>
  name === outer || (isContainer(outer) && name.startsWith(outer));
const overwrites = ({ value }: Step): boolean => value > 1;

/** Rules as operations on a map. `version` counts states. A client remembers the last version that it read. */
class Model {
  readonly states = new Map<string, State>([['', { values: undefined, version: 0 }]]);
  readonly seen = [new Map<string, number>(), new Map<string, number>()] as const;
  private versions = 0;

  members(name: string): string[] {
    return [...this.states.keys()].filter((other) => other !== '' && parentName(other) === name).sort();
  }

  private touch(name: string, values: Set<number> | undefined): void {
    this.states.set(name, { values, version: ++this.versions });
  }

  private touchParent(name: string): void {
    this.touch(parentName(name), undefined);
  }

  private guarded({ client, name, guard }: Step, required: boolean): string | undefined {
    const state = this.states.get(name);
    if (state && required && guard === 'none') return 'precondition-required';
    if (guard === 'any' && !state) return 'precondition-failed';
    if (guard === 'create-only' && state) return 'precondition-failed';
    if (guard === 'remembered' && state?.version !== (this.seen[client].get(name) ?? -1)) return 'precondition-failed';
    return undefined;
  }

  /** Applies a step. @returns the error code, or `ok` */
  run(step: Step): string {
    const { client, verb, name, value } = step;
    const state = this.states.get(name);
    if (verb === 'look') {
      if (state) this.seen[client].set(name, state.version);
      return 'ok';
    }
    if (verb === 'post') return this.post(step);
    if (verb === 'move' || verb === 'copy') return this.move(step);
    if (name === '' && verb.startsWith('delete')) return 'root-not-deletable';
    if (verb === 'put') {
      if (!this.states.has(parentName(name))) return 'parent-not-found';
      if (state && isContainer(name)) return 'container-exists';
    } else if (!state && !(verb === 'patch' && this.mayBeMade(name))) return 'not-found';
    if (verb === 'patch' && isContainer(name)) return 'unsupported-media-type';
    const refused = this.guarded(step, verb === 'put');
    if (refused) return refused;
    if (verb === 'put') this.touch(name, isContainer(name) ? undefined : new Set([value]));
    else if (verb === 'patch') {
      const values = state?.values ?? new Set<number>();
      if (!values.has(value)) this.touch(name, new Set([...values, value]));
    } else return this.delete(name, verb === 'delete-tree');
    if (!state) this.touchParent(name);
    return 'ok';
  }

  /** Rule 6.18: a patch that only inserts creates the resource. */
  private mayBeMade(name: string): boolean {
    return !isContainer(name) && this.states.has(parentName(name));
  }

  private post({ client, name, value, guard }: Step): string {
    const container = isContainer(name) ? name : parentName(name);
    if (!this.states.has(container)) return 'not-found';
    const remembered = this.seen[client].get(container) ?? -1;
    if (guard === 'remembered' && this.states.get(container)!.version !== remembered) return 'precondition-failed';
    this.touch(`${container}posted${this.versions}`, new Set([value]));
    this.touch(container, undefined);
    return 'ok';
  }

  private move(step: Step): string {
    const { verb, name, to } = step;
    if (isContainer(name) !== isContainer(to)) return 'interaction-model-conflict';
    if (name === '' && verb === 'move') return 'root-not-deletable';
    if (isWithin(name, to) || isWithin(to, name)) return 'conflict';
    if (!this.states.has(name)) return 'not-found';
    if (!this.states.has(parentName(to))) return 'parent-not-found';
    if (this.states.has(to) && !overwrites(step)) return 'precondition-failed';
    const refused = this.guarded(step, false);
    if (refused) return refused;
    const moved = [...this.states].filter(([other]) => isWithin(name, other));
    for (const other of [...this.states.keys()])
      if (isWithin(to, other) || (verb === 'move' && isWithin(name, other))) this.states.delete(other);
    for (const [other, { values }] of moved) this.touch(to + other.slice(name.length), values && new Set(values));
    if (verb === 'move') this.touchParent(name);
    this.touchParent(to);
    return 'ok';
  }

  private delete(name: string, tree: boolean): string {
    if (this.members(name).length > 0 && isContainer(name) && !tree) return 'not-empty';
    for (const other of [...this.states.keys()])
      if (other === name || (isContainer(name) && other.startsWith(name))) this.states.delete(other);
    this.touchParent(name);
    return 'ok';
  }
}

class Real {
  private readonly seen = [new Map<string, string>(), new Map<string, string>()] as const;

  constructor(
    private readonly spec: SpecStorage,
    private readonly posted: (iri: string) => void,
  ) {}

  private guard({ client, guard }: Step, name: string): Preconditions {
    if (guard === 'any') return { ifMatch: '*' };
    if (guard === 'create-only') return { ifNoneMatch: '*' };
    if (guard === 'none') return {};
    return { ifMatch: [{ weak: false, opaque: this.seen[client].get(name) ?? 'never' }] };
  }

  async run(step: Step): Promise<string> {
    try {
      await this.perform(step);
      return 'ok';
    } catch (error) {
      if (error instanceof LwsError) return error.code;
      throw error;
    }
  }

  private async perform(step: Step): Promise<void> {
    const { storage } = this.spec;
    const { client, verb, name, value } = step;
    const container = isContainer(name) ? name : parentName(name);
    // A POST is conditional on the state of its container.
    const preconditions = this.guard(step, verb === 'post' ? container : name);
    const request = { iri: root + name, access: {}, preconditions, model: undefined };
    if (verb === 'look') {
      const record = storage.store.record(request.iri);
      if (record) this.seen[client].set(name, record.revision);
    } else if (verb === 'put')
      await replace(storage, { ...request, body: body(isContainer(name) ? '' : `<#a> <#p> ${value} .`) });
    else if (verb === 'patch')
      await patch(storage, {
        ...request,
        body: body(`INSERT DATA { <#a> <#p> ${value} }`, 'application/sparql-update'),
      });
    else if (verb === 'post') {
      const iri = root + container;
      const made = await create(storage, { ...request, iri, slug: undefined, body: body(`<#a> <#p> ${value} .`) });
      this.posted(made.record.iri.slice(root.length));
    } else if (verb === 'move' || verb === 'copy')
      await move(storage, {
        ...{ iri: request.iri, access: {}, preconditions, destination: root + step.to, copies: verb === 'copy' },
        ...{ overwrites: overwrites(step) || undefined, isDeep: true, rewrites: true },
      });
    else await remove(storage, { ...request, recursive: verb === 'delete-tree' });
  }
}

async function compare(model: Model, { storage }: SpecStorage): Promise<void> {
  for (const [name, { values }] of model.states) {
    const record = storage.store.record(root + name);
    expect(record, name).not.to.equal(undefined);
    if (values) {
      const turtle = (await rdfRepresentation(storage, record!, {
        format: 'text/turtle',
        fallback: 'text/turtle',
      }))!.bytes.toString();
      expect(new Set([...turtle.matchAll(/ (\d)/g)].map(([, digit]) => Number(digit))), name).to.deep.equal(values);
    } else {
      const listing = JSON.parse((await jsonListing(storage, {}, record!, undefined)).bytes.toString());
      const listed = listing.items.map(({ id }: { id: string }) => id.slice(root.length));
      expect(listed, name).to.deep.equal(model.members(name));
      expect(listing.totalItems).to.equal(listed.length);
    }
  }
}

describe('Storage against a model in memory', () => {
  it('has the same outcomes, contents and listings for two clients with tags', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async (steps) => {
        const spec = await specStorage();
        try {
          const model = new Model();
          let lastPosted = '';
          const real = new Real(spec, (name) => {
            lastPosted = name;
          });
          for (const [at, each] of steps.entries()) {
            const expected = model.run(each);
            expect(await real.run(each), `step ${at}: ${JSON.stringify(each)}`).to.equal(expected);
            if (each.verb === 'post' && expected === 'ok') renamePosted(model, lastPosted);
          }
          await compare(model, spec);
          expect((await checkStore(spec.memory.store)).faults).to.deep.equal([]);
        } finally {
          await spec.dispose();
        }
      }),
      { numRuns: runs(60) },
    );
  }).timeout(60_000);
});

/** The server chooses the name of a POST. Renames the resource in the model. */
function renamePosted(model: Model, name: string): void {
  for (const [other, state] of model.states)
    if (/posted\d+$/.test(other)) {
      model.states.delete(other);
      model.states.set(name, state);
    }
}
