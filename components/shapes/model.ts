/** Shapes, checks and results, as the constraints see them. */
import type { TermKey } from '../../lib/query/access/terms.js';
import type { Path } from './paths.js';
import type { TokenGraph } from './token-graph.js';

/** The compiled shapes of a document. */
export interface Shapes {
  readonly graph: TokenGraph;
  /** Returns the compiled shape of a node. @throws UnusableShapes */
  shape(node: TermKey): Shape;
  /** Writes a term for a sentence. */
  text(token: TermKey): string;
}

export interface Shape {
  readonly node: TermKey;
  /** Absent for a node shape. */
  readonly path: Path | undefined;
  readonly severity: TermKey;
  readonly messages: readonly TermKey[];
  readonly isDeactivated: boolean;
  /** Filled after creation, because shapes may refer to themselves. */
  readonly checks: Check[];
}

/** Checks the value nodes of a focus node, and reports what is wrong. */
export type Check = (run: ValidationRun, focus: TermKey, values: readonly TermKey[]) => void;

/** A validation in progress. */
export interface ValidationRun {
  readonly data: TokenGraph;
  /** Validates one node against a shape, and adds the results. */
  check(shape: Shape, focus: TermKey): void;
  /** Returns the first reason why a node does not conform to a shape, or `undefined` if it does. Results of any severity count. */
  failureOf(shape: Shape, node: TermKey): string | undefined;
  /** True for an instance of a class or of its subclasses, which the data or the shapes may declare. */
  isInstance(node: TermKey, type: TermKey): boolean;
  report(shape: Shape, found: FoundViolation): void;
}

export interface FoundViolation {
  readonly focus: TermKey;
  /** IRI of the constraint component. */
  readonly component: string;
  /** Predicate of the sentence, such as `must be an IRI`. */
  readonly must: string;
  readonly value?: TermKey;
  /** Default: the path of the shape. */
  readonly path?: Path;
}

/** A validation result, with terms as tokens: it is sent between threads. */
export interface Result extends Pick<FoundViolation, 'focus' | 'component'> {
  readonly path: Path | undefined;
  readonly value: TermKey | undefined;
  readonly shape: TermKey;
  readonly severity: TermKey;
  /** Literals of `sh:message`, if the shape has some. */
  readonly messages: readonly TermKey[];
  /** What is wrong, as a sentence. */
  readonly sentence: string;
}
