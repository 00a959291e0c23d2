/** Quads of a segment in four orders, as a layer of a query's view. */
import { gspo, type OrderReader, orderPlaces, type Window } from '../segments/quad-pages.js';
import type { Segment } from '../segments/segment.js';
import type { TermReader } from '../segments/term-reader.js';
import { type Ids, type QuadOrders, type QuadRange, restOf } from './sorted-quads.js';

export class SegmentQuads implements QuadOrders {
  readonly count: number;
  readonly most: number;
  readonly isUnique: boolean;
  private readonly orders: readonly OrderReader[];
  private readonly prefix = [0, 0, 0, 0];

  /** Referenced to keep the files open: the files of a segment are closed when its terms are garbage-collected. */
  readonly terms: TermReader;

  constructor({ data, terms, orders }: Segment) {
    [this.count, this.isUnique, this.orders, this.terms] = [data.quads, data.isUnique, orders, terms];
    this.most = terms.size - 1;
  }

  range(order: number, ids: Ids): QuadRange {
    const places = orderPlaces[order]!;
    let length = 0;
    for (; length < 4 && ids[places[length]!] >= 0; length++) this.prefix[length] = ids[places[length]!];
    const [from, to] = this.orders[order]!.range(this.prefix, length);
    return { order, from, to, rest: restOf(order, length, ids) };
  }

  window(order: number, at: number, to: number): Window {
    return this.orders[order]!.window(at, to);
  }

  after(order: number, at: number, { place, to }: { readonly place: number; readonly to: number }): number {
    const reader = this.orders[order]!;
    const places: readonly number[] = orderPlaces[order]!;
    const length = places.indexOf(place) + 1;
    for (let i = 0; i < length; i++) this.prefix[i] = reader.term(at, places[i]!);
    return Math.min(to, reader.after(this.prefix, length, at));
  }

  firstOf(graph: number): number {
    this.prefix[0] = graph;
    return this.orders[gspo]!.bound(this.prefix, 1);
  }
}
