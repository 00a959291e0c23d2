/**
 * A value that a module adds to objects of others, for objects that live as long as a request. V8 frees the entries of a `WeakMap` only in full
 * collections: with one entry per request, each GET kept its request alive and took twice the CPU time.
 */
export class HiddenField<T extends object, V> {
  private readonly key = Symbol();

  get(of: T): V | undefined {
    return (of as { [key: symbol]: V })[this.key];
  }

  has(of: T): boolean {
    return this.key in of;
  }

  /** Copies of the object by spread, and its JSON, do not contain the value. */
  set(of: T, value: V): void {
    Object.defineProperty(of, this.key, { value, writable: true, configurable: true });
  }
}
