/** Interfaces between shapes, checks and results. */
import type { TermKey } from '../../lib/query/access/terms.js';
import type { Path } from './paths.js';
import type { TokenGraph } from './token-graph.js';

/** Compiled shapes of a document. */
export interface Shapes {
  readonly graph: TokenGraph;
  /** Returns the compiled shape of a node. @throws UnusableShapes */
  shape(node: TermKey): Shape;
  /** Returns a term as text for a message. */
  text(token: TermKey): string;
}

export interface Shape {
  readonly node: TermKey;
  /** Path of a property shape. Absent for a node shape. */
  readonly path: Path | undefined;
  readonly severity: TermKey;
  readonly messages: readonly TermKey[];
  readonly isDeactivated: boolean;
  /** Checks of the shape, added after its creation, because shapes may refer to themselves. */
  readonly checks: Check[];
}

/** Checks the value nodes of a focus node, and reports violations. */
export type Check = (run: ValidationRun, focus: TermKey, values: readonly TermKey[]) => void;

/** Validation in progress. */
export interface ValidationRun {
  readonly data: TokenGraph;
  /** Validates a node against a shape, and adds the results. */
  check(shape: Shape, focus: TermKey): void;
  /** Returns the first reason why a node does not conform to a shape, or `undefined`. Results of any severity count. */
  failureOf(shape: Shape, node: TermKey): string | undefined;
  /** True if a node is an instance of a class or its subclasses, as declared in the data or in the shapes. */
  isInstance(node: TermKey, type: TermKey): boolean;
  report(shape: Shape, found: FoundViolation): void;
}

export interface FoundViolation {
  readonly focus: TermKey;
  /** IRI of the constraint component. */
  readonly component: string;
  /** Message after the name of the node, such as `must be an IRI`. */
  readonly must: string;
  readonly value?: TermKey;
  /** Path of the violation. Default: the path of the shape. */
  readonly path?: Path;
}

/** Validation result. Terms are token strings, because results are sent between threads. */
export interface Result extends Pick<FoundViolation, 'focus' | 'component'> {
  readonly path: Path | undefined;
  readonly value: TermKey | undefined;
  readonly shape: TermKey;
  readonly severity: TermKey;
  /** Literals of `sh:message` of the shape. */
  readonly messages: readonly TermKey[];
  /** Description of the violation, as a sentence. */
  readonly sentence: string;
}
