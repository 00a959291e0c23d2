/** Positions of the names of nodes and links in a graph, so that no name covers another. */
import type { DrawnGraph, DrawnNode, NodePair } from './graph-model.js';

/** Area of a text or a node, in units of the picture. */
export interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

export interface PlacedName {
  /** Anchor of the text, and its baseline. */
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly box: Box;
}

/** Values that determine the size of texts. */
export interface Sizes {
  /** Units of the picture per pixel. Names have the same size on the screen at each zoom. */
  readonly unit: number;
  /** Visible part of the picture. Names that would be cut off are omitted. */
  readonly sight: Box;
  readonly nameOf: (node: DrawnNode) => string;
  readonly linkNameOf: (pair: NodePair) => string;
}

type Side = readonly [x: number, y: number];
/** Sides of a node: right, left, below and above. The first side is used if all are equally free. */
const sides: readonly Side[] = [
  [1, 0],
  [-1, 0],
  [0, 1],
  [0, -1],
];
/** Approximate width of a letter, height of a line, and padding of a pill, in pixels. */
const [letterWidth, lineHeight, pillPadding] = [7.2, 16, 6];
/** Possible positions of a name on its link, as fractions of the length. */
const parts = [0.5, 0.4, 0.6, 0.3, 0.7];

/** Returns the radius of a node, in units of the picture. */
export const radiusOf = (unit: number): number => 7 * Math.min(2, Math.max(0.6, unit));

const areOverlapping = (one: Box, other: Box): boolean =>
  one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

const isInside = (one: Box, other: Box): boolean =>
  one.left >= other.left && one.right <= other.right && one.top >= other.top && one.bottom <= other.bottom;

const around = (x: number, y: number, halfWidth: number, halfHeight: number): Box => ({
  left: x - halfWidth,
  right: x + halfWidth,
  top: y - halfHeight,
  bottom: y + halfHeight,
});

function labelAt({ x = 0, y = 0 }: DrawnNode, [dx, dy]: Side, letters: number, unit: number): PlacedName {
  const [width, height, gap] = [letters * letterWidth * unit, lineHeight * unit, radiusOf(unit) + 4 * unit];
  const [middleX, middleY] = [x + dx * (gap + width / 2), y + dy * (gap + height / 2 - 2 * unit)];
  return {
    x: dx === 0 ? x : x + dx * gap,
    y: middleY + 4 * unit,
    anchor: dx === 0 ? 'middle' : dx > 0 ? 'start' : 'end',
    box: around(middleX, middleY, width / 2, height / 2),
  };
}

/** Returns the sides of each node, the side with the fewest links first. */
function freeSides({ nodes, links }: DrawnGraph): ReadonlyMap<DrawnNode, readonly Side[]> {
  const directions = new Map<DrawnNode, Side[]>(nodes.map((node) => [node, []]));
  const add = (from: DrawnNode, to: DrawnNode): void => {
    const [dx, dy] = [(to.x ?? 0) - (from.x ?? 0), (to.y ?? 0) - (from.y ?? 0)];
    const length = Math.hypot(dx, dy);
    if (length > 0) directions.get(from)?.push([dx / length, dy / length]);
  };
  for (const { source, target } of links) {
    add(source, target);
    add(target, source);
  }
  const cost = (node: DrawnNode, [x, y]: Side): number =>
    directions.get(node)!.reduce((sum, [dx, dy]) => sum + Math.max(0, x * dx + y * dy) ** 2, 0);
  return new Map(
    nodes.map((node) => [
      node,
      // Names above and below are further away from their nodes.
      sides
        .map((side, at) => ({ side, cost: cost(node, side) + at * 0.05 }))
        .sort((a, b) => a.cost - b.cost)
        .map(({ side }) => side),
    ]),
  );
}

/**
 * Returns the frame of the nodes with their names on the freest side, even if names overlap. @param most maximum letters of a
 * name for which the frame has room
 */
export function extentOf(graph: DrawnGraph, { unit, nameOf }: Omit<Sizes, 'sight'>, most: number): Box {
  const free = freeSides(graph);
  const boxes = graph.nodes.flatMap((node) => [
    around(node.x ?? 0, node.y ?? 0, radiusOf(unit), radiusOf(unit)),
    labelAt(node, free.get(node)![0]!, Math.min(most, nameOf(node).length), unit).box,
  ]);
  return {
    left: Math.min(...boxes.map(({ left }) => left)),
    right: Math.max(...boxes.map(({ right }) => right)),
    top: Math.min(...boxes.map(({ top }) => top)),
    bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
  };
}

/**
 * Positions the names of nodes, those with the most links first, and then the names of links. Omits names without room. @param
 * pairs links whose names are wanted
 */
export function placeNames(graph: DrawnGraph, pairs: readonly NodePair[], { unit, sight, nameOf, linkNameOf }: Sizes) {
  const free = freeSides(graph);
  const counts = new Map<DrawnNode, number>();
  for (const end of graph.links.flatMap(({ source, target }) => [source, target]))
    counts.set(end, (counts.get(end) ?? 0) + 1);
  const circles = graph.nodes.map((node) => ({
    node,
    box: around(node.x ?? 0, node.y ?? 0, radiusOf(unit), radiusOf(unit)),
  }));
  const placed: Box[] = [];
  const isFree = (box: Box, own?: DrawnNode): boolean =>
    placed.every((other) => !areOverlapping(box, other)) &&
    circles.every(({ node, box: other }) => node === own || !areOverlapping(box, other));
  const nodes = new Map<DrawnNode, PlacedName>();
  for (const node of graph.nodes.toSorted((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))) {
    const found = free
      .get(node)!
      .map((side) => labelAt(node, side, nameOf(node).length, unit))
      .find(({ box }) => isInside(box, sight) && isFree(box, node));
    if (!found) continue;
    nodes.set(node, found);
    placed.push(found.box);
  }
  const links = new Map<NodePair, PlacedName>();
  for (const pair of pairs) {
    const found = parts.map((part) => pillAt(pair, part, linkNameOf(pair).length, unit)).find(({ box }) => isFree(box));
    if (!found) continue;
    links.set(pair, found);
    placed.push(found.box);
  }
  return { nodes, links };
}

/** Returns the position of a link's name on a pill. @param part position on the link, from 0 to 1 */
export function pillAt({ source, target }: NodePair, part: number, letters: number, unit: number): PlacedName {
  const x = (source.x ?? 0) + ((target.x ?? 0) - (source.x ?? 0)) * part;
  const y = (source.y ?? 0) + ((target.y ?? 0) - (source.y ?? 0)) * part;
  const half = (letters * letterWidth * 0.92 * unit) / 2 + pillPadding * unit;
  return { x, y: y + 4 * unit, anchor: 'middle', box: around(x, y, half, (lineHeight / 2 + 1) * unit) };
}
