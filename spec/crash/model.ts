/**
 * Expected state of the storage: acknowledged writes, and those that may or may not have happened before the kill. It must not
 * know the form of requests.
 */
import { fingerprint, type State } from './contents.js';

/** Write: the states that it creates, atomically. A POST has a content and no name. */
export interface Change {
  readonly states: ReadonlyMap<string, State>;
  readonly unnamed?: { readonly container: string; readonly state: State };
}

export const parentOf = (iri: string): string => iri.slice(0, iri.lastIndexOf('/', iri.length - 2) + 1);

export class Model {
  private readonly known = new Map<string, State>();
  private readonly underWay = new Set<Change>();
  acknowledged = 0;
  /** Writes without a response so far. */
  inDoubt = 0;

  state(iri: string): State {
    return this.known.get(iri);
  }

  /** Resources acknowledged as existing. */
  present(container: string): string[] {
    return [...this.known].flatMap(([iri, state]) => (state && parentOf(iri) === container ? [iri] : []));
  }

  begin(change: Change): void {
    this.underWay.add(change);
  }

  /** Records a response. @param name the IRI of a resource created by POST */
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
   * Compares with the actual state, and takes it as the new baseline.
   * @param read the state of a resource
   * @param list the members in the listing of a container, undefined if it does not exist
   * @returns a sentence for each defect
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

  /** A change without a response happened completely or not at all. */
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
    // The remaining members can only be from a POST without a response.
    for (const iri of listed) {
      const state = await read(iri);
      if (state && unnamed.get(fingerprint(state)) === container) this.known.set(iri, state);
      else faults.push(`${iri} is listed, and is ${fingerprint(state)}, which nobody sent`);
    }
    return faults;
  }
}
