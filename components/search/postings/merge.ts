/** Merges of ordered postings: an intersection with seeks evaluates AND, a union evaluates OR. */
import { setImmediate } from 'node:timers/promises';
import type { SortedStream } from '../../../lib/storage/level/entry-cursor.js';

/** Maximum duration of a merge before it yields to the event loop, in milliseconds, and count of steps between time checks. */
const [maxMs, stepsPerTest] = [5, 256];

/** Yields the texts that are in every stream, in order, in blocks of a maximum size. Yields to the event loop in between. */
export const intersection = (streams: readonly SortedStream[], blockSize?: number): AsyncGenerator<readonly string[]> =>
  matches(streams, (text) => text, blockSize);

/**
 * Like `intersection`, with a result for each text. @param take called when all streams are at the text. It may advance the
 * streams beyond the text, and returns `undefined` to omit the text
 */
export async function* matches<T>(
  streams: readonly SortedStream[],
  take: (text: string) => T | undefined | Promise<T | undefined>,
  blockSize = 1000,
): AsyncGenerator<readonly T[]> {
  let found: T[] = [];
  let target = '';
  let began = performance.now();
  for (let agreeing = 0, index = 0, steps = 1; ; index = (index + 1) % streams.length, steps++) {
    if (steps % stepsPerTest === 0 && performance.now() - began > maxMs) {
      await setImmediate();
      began = performance.now();
    }
    const answer = streams[index]!.seek(target);
    const head = answer instanceof Promise ? await answer : answer;
    if (head === undefined) break;
    agreeing = head === target ? agreeing + 1 : 1;
    target = head;
    if (agreeing < streams.length) continue;
    const taken = take(head);
    const result = taken instanceof Promise ? await taken : taken;
    if (result !== undefined) found.push(result);
    // The smallest possible next text.
    target = `${head}\u0000`;
    agreeing = 0;
    if (found.length < blockSize) continue;
    yield found;
    found = [];
  }
  if (found.length > 0) yield found;
}

/** Returns a stream of the texts in any of the streams, without duplicates. */
export function union(streams: readonly SortedStream[]): SortedStream {
  return streams.length === 1 ? streams[0]! : new Union(streams);
}

interface Branch {
  readonly stream: SortedStream;
  head: string;
}

/** Min-heap of streams, ordered by current text. */
class Union implements SortedStream {
  private heap: Branch[] | undefined;

  constructor(private readonly streams: readonly SortedStream[]) {}

  seek(target: string): string | undefined | Promise<string | undefined> {
    const { heap } = this;
    if (!heap) return this.open(target);
    while (heap.length > 0 && heap[0]!.head < target) {
      const top = heap[0]!;
      const answer = top.stream.seek(target);
      if (answer instanceof Promise) return this.goOn(heap, answer, target);
      settle(heap, answer);
    }
    return heap[0]?.head;
  }

  private async open(target: string): Promise<string | undefined> {
    const heads = await Promise.all(this.streams.map((stream) => stream.seek(target)));
    this.heap = heads
      .flatMap((head, index) => (head === undefined ? [] : [{ stream: this.streams[index]!, head }]))
      .sort((a, b) => (a.head < b.head ? -1 : 1));
    return this.heap[0]?.head;
  }

  private async goOn(heap: Branch[], answer: Promise<string | undefined>, target: string): Promise<string | undefined> {
    settle(heap, await answer);
    return this.seek(target);
  }
}

/** Sets the new head of the top branch, or removes it at its end, and restores the heap order. */
function settle(heap: Branch[], head: string | undefined): void {
  const last = heap.length - 1;
  if (head !== undefined) heap[0]!.head = head;
  else {
    heap[0] = heap[last]!;
    heap.pop();
  }
  for (let at = 0; ; ) {
    let least = at;
    for (const child of [2 * at + 1, 2 * at + 2])
      if (child < heap.length && heap[child]!.head < heap[least]!.head) least = child;
    if (least === at) return;
    [heap[at], heap[least]] = [heap[least]!, heap[at]!];
    at = least;
  }
}
