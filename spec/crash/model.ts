/**
 * What the storage has to hold: what was acknowledged, and what may or may not have happened when the server died.
 * It must not know how requests look.
 */
import { fingerprint, type State } from './contents.js';

/** A write: the states that it makes, all or none. A POST knows only the content, not the name. */
export interface Change {
  readonly states: ReadonlyMap<string, State>;
  readonly unnamed?: { readonly container: string; readonly state: State };
}

export const parentOf = (iri: string): string => iri.slice(0, iri.lastIndexOf('/', iri.length - 2) + 1);

export class Model {
  private readonly known = new Map<string, State>();
  private readonly underWay = new Set<Change>();
  acknowledged = 0;
  /** Writes without an answer, so far. */
  inDoubt = 0;

  state(iri: string): State {
    return this.known.get(iri);
  }

  /** The resources that were acknowledged to be there. */
  present(container: string): string[] {
    return [...this.known].flatMap(([iri, state]) => (state && parentOf(iri) === container ? [iri] : []));
  }

  begin(change: Change): void {
    this.underWay.add(change);
  }

  /** @param name the IRI that an unnamed resource got */
  acknowledge(change: Change, name?: string): void {
    this.underWay.delete(change);
    this.acknowledged++;
    for (const [iri, state] of change.states) this.known.set(iri, state);
    if (name && change.unnamed) this.known.set(name, change.unnamed.state);
  }

  refuse(change: Change): void {
    this.underWay.delete(change);
  }

  /**
   * Compares with what is there, and takes that as the truth from now on.
   * @param read the state of a resource
   * @param list the members that a container lists, undefined when it is not there
   * @returns a sentence for each thing that should not be
   */
  async reconcile(
    read: (iri: string) => Promise<State>,
    list: (container: string) => Promise<readonly string[]>,
  ): Promise<string[]> {
    const faults: string[] = [];
    this.inDoubt += this.underWay.size;
    for (const { states } of this.underWay) faults.push(...(await this.settle(states, read)));
    const unnamed = new Map<string, string>();
    for (const { unnamed: post } of this.underWay) if (post) unnamed.set(fingerprint(post.state), post.container);
    this.underWay.clear();
    for (const [iri, state] of this.known) {
      const found = fingerprint(await read(iri));
      if (found !== fingerprint(state)) faults.push(`${iri} is ${found}, acknowledged was ${fingerprint(state)}`);
    }
    const containers = [...this.known].flatMap(([iri, state]) => (state?.kind === 'container' ? [iri] : []));
    for (const container of containers) faults.push(...(await this.compareListing(container, unnamed, read, list)));
    for (const [iri, state] of this.known) if (!state) this.known.delete(iri);
    return faults;
  }

  /** A change without an answer has happened whole or not at all. */
  private async settle(states: ReadonlyMap<string, State>, read: (iri: string) => Promise<State>): Promise<string[]> {
    const seen = { before: true, after: true };
    const found = new Map<string, State>();
    for (const [iri, after] of states) {
      const now = await read(iri);
      found.set(iri, now);
      if (fingerprint(now) !== fingerprint(after)) seen.after = false;
      if (fingerprint(now) !== fingerprint(this.known.get(iri))) seen.before = false;
    }
    for (const [iri, now] of found) this.known.set(iri, now);
    if (seen.before || seen.after) return [];
    return [`neither before nor after: ${[...found].map(([iri, now]) => `${iri} is ${fingerprint(now)}`).join(', ')}`];
  }

  private async compareListing(
    container: string,
    unnamed: ReadonlyMap<string, string>,
    read: (iri: string) => Promise<State>,
    list: (container: string) => Promise<readonly string[]>,
  ): Promise<string[]> {
    const faults: string[] = [];
    const listed = new Set(await list(container));
    for (const iri of this.present(container)) if (!listed.delete(iri)) faults.push(`${iri} is not listed`);
    // What is left can only come of a POST without an answer.
    for (const iri of listed) {
      const state = await read(iri);
      if (state && unnamed.get(fingerprint(state)) === container) this.known.set(iri, state);
      else faults.push(`${iri} is listed, and is ${fingerprint(state)}, which nobody sent`);
    }
    return faults;
  }
}
