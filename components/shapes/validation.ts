/** Validates a graph against the shapes of a document. */
import type { TermKey } from '../../lib/query/access/terms.js';
import { rdf } from '../../lib/rdf/vocabulary.js';
import { getOrMake } from '../../lib/tools/collections.js';
import type { FoundViolation, Result, Shape, ValidationRun } from './model.js';
import { follow } from './paths.js';
import type { ShapesGraph, ShapeTarget } from './shapes-graph.js';
import { reachableFrom, type TokenGraph } from './token-graph.js';
import { subClassOf, violation } from './vocabulary.js';

/** Maximum results for a graph, and maximum characters of all results, because the results are sent between threads. */
export const maxResults = 1000;
const maxCharacters = 1 << 20;

/** Thrown to end an evaluation early. One object without its own stack, because it is thrown often. */
const ended = new Error('The evaluation has ended.');

export class Validation implements ValidationRun {
  readonly results: Result[] = [];
  private characters = 0;
  private hasViolation = false;
  /** Nesting depth of `failureOf`, and the message of the last failure. */
  private depth = 0;
  private failure = '';
  /** Pairs of shape and node that are being evaluated. A recursive shape holds for a node under evaluation (rule 23.4). */
  private readonly open = new Set<string>();
  private readonly subclasses = new Map<TermKey, ReadonlySet<TermKey>>();

  constructor(
    private readonly shapes: ShapesGraph,
    readonly data: TokenGraph,
  ) {}

  /** Validates all targets. If the maximum of results is reached without a violation, searches only for a violation. */
  run(): readonly Result[] {
    this.untilEnd(() => {
      for (const target of this.shapes.targets)
        for (const focus of this.focusNodes(target)) this.check(target.shape, focus);
    });
    return this.results;
  }

  /** Runs work, and returns true if it was ended early. */
  private untilEnd(work: () => void): boolean {
    try {
      work();
      return false;
    } catch (error) {
      if (error === ended) return true;
      throw error;
    }
  }

  private focusNodes({ nodes, classes, subjectsOf, objectsOf }: ShapeTarget): Set<TermKey> {
    const found = new Set(nodes);
    for (const type of classes)
      for (const each of this.subclassesOf(type))
        for (const instance of this.data.subjects(rdf.type, each)) found.add(instance);
    for (const predicate of subjectsOf) for (const [subject] of this.data.triples(predicate)) found.add(subject);
    for (const predicate of objectsOf) for (const [, object] of this.data.triples(predicate)) found.add(object);
    return found;
  }

  check(shape: Shape, focus: TermKey): void {
    if (shape.isDeactivated) return;
    const key = `${shape.node}\u0000${focus}`;
    if (this.open.has(key)) return;
    this.open.add(key);
    try {
      const values = shape.path ? [...follow(this.data, shape.path, [focus])] : [focus];
      for (const check of shape.checks) check(this, focus, values);
    } finally {
      this.open.delete(key);
    }
  }

  failureOf(shape: Shape, node: TermKey): string | undefined {
    this.depth++;
    const hasFailed = this.untilEnd(() => this.check(shape, node));
    this.depth--;
    return hasFailed ? this.failure : undefined;
  }

  report({ node, path: ofShape, severity, messages }: Shape, found: FoundViolation): void {
    const { focus, value, component, must, path = ofShape } = found;
    const { shapes, results } = this;
    const about = path ? `${shapes.path(path)} of ${shapes.text(focus)}` : shapes.text(focus);
    const sentence = `${about} ${must}${path && value !== undefined ? `; it is ${shapes.text(value)}` : ''}`;
    if (this.depth > 0) {
      this.failure = sentence;
      throw ended;
    }
    const isViolation = severity === violation;
    const isFull = results.length >= maxResults || this.characters > maxCharacters;
    if (isFull && this.hasViolation) throw ended;
    if (isFull && !isViolation) return;
    this.hasViolation ||= isViolation;
    results.push({ focus, path, value, component, shape: node, severity, messages, sentence });
    for (const { length } of [focus, value ?? '', sentence, ...messages]) this.characters += length;
  }

  isInstance(node: TermKey, type: TermKey): boolean {
    const types = this.data.objects(node, rdf.type);
    return types.length > 0 && types.some((each) => this.subclassesOf(type).has(each));
  }

  private subclassesOf(type: TermKey): ReadonlySet<TermKey> {
    return getOrMake(this.subclasses, type, () => {
      const below = reachableFrom([type], (each) => [
        ...this.data.subjects(subClassOf, each),
        ...this.shapes.graph.subjects(subClassOf, each),
      ]);
      return below.add(type);
    });
  }
}
