/** Compiles the shapes of a document to checks. Rejects everything outside of SHACL Core, before any data is validated. */
import { isBlank, isIri, rawOf, type TermKey } from '../../lib/query/access/terms.js';
import { toValue } from '../../lib/query/expressions/values.js';
import { compactor } from '../../lib/rdf/compact-iri.js';
import { rdf } from '../../lib/rdf/vocabulary.js';
import { constraints, Parameter, singleValued } from './constraints.js';
import type { Shape, Shapes } from './model.js';
import { type Path, pathText, readPath } from './paths.js';
import { isTrueLiteral, reachableFrom, type TokenGraph } from './token-graph.js';
import { classTypes, sh, subClassOf, UnusableShapes, unsupported, violation } from './vocabulary.js';

/** Shape, and the targets that select its focus nodes. */
export interface ShapeTarget {
  readonly shape: Shape;
  readonly nodes: readonly TermKey[];
  readonly classes: readonly TermKey[];
  readonly subjectsOf: readonly TermKey[];
  readonly objectsOf: readonly TermKey[];
}

const maxShapes = 1000;
const maxWarnings = 20;
const targets = ['targetNode', 'targetClass', 'targetSubjectsOf', 'targetObjectsOf'] as const;
/** Properties of shapes that are not constraints by themselves. */
const others: ReadonlySet<string> = new Set([
  ...targets,
  ...['path', 'deactivated', 'severity', 'message', 'name', 'description', 'order', 'group', 'defaultValue'],
  ...['flags', 'ignoredProperties', 'qualifiedValueShape', 'qualifiedValueShapesDisjoint', 'declare', 'prefixes'],
]);
const shapeTypes: ReadonlySet<string> = new Set([`${sh}NodeShape`, `${sh}PropertyShape`]);

/** Maximum characters of a term in a message. */
const longestTerm = 200;

export class ShapesGraph implements Shapes {
  readonly targets: readonly ShapeTarget[];
  /** Warnings about ignored properties. */
  readonly warnings: string[] = [];
  private readonly ignored = new Set<string>();
  private readonly shapes = new Map<TermKey, Shape>();
  private readonly compact: (iri: string) => string | undefined;
  /** Classes whose instances are classes: rdfs:Class, owl:Class, and their subclasses. */
  private readonly metaclasses: ReadonlySet<TermKey>;

  /** Compiles the shapes. @throws UnusableShapes */
  constructor(
    readonly graph: TokenGraph,
    prefixes: Readonly<Record<string, string>>,
  ) {
    this.compact = compactor(Object.entries(prefixes), /^[\w.-]+$/);
    this.assertCore();
    const subclasses = reachableFrom(classTypes, (type) => graph.subjects(subClassOf, type));
    this.metaclasses = new Set([...classTypes, ...subclasses]);
    const declared = new Set<TermKey>();
    for (const [node, type] of graph.triples(rdf.type)) if (shapeTypes.has(type)) declared.add(node);
    const targeted = new Set<TermKey>();
    for (const name of targets) for (const [node] of graph.triples(sh + name)) targeted.add(node);
    for (const node of declared) if (this.isClass(node)) targeted.add(node);
    this.targets = [...targeted].map((node) => this.targetOf(node));
    for (const node of declared) this.shape(node);
    if (this.targets.length === 0)
      throw new UnusableShapes('The document has no shape with a target (sh:targetClass, sh:targetNode …).');
  }

  private assertCore(): void {
    for (const [, type] of this.graph.triples(rdf.type))
      if (type === `${sh}ConstraintComponent`) throw notCore('A sh:ConstraintComponent');
    for (const _triple of this.graph.triples(`${sh}entailment`)) throw notCore('sh:entailment');
  }

  private isClass(node: TermKey): boolean {
    return isIri(node) && this.graph.objects(node, rdf.type).some((type) => this.metaclasses.has(type));
  }

  private targetOf(node: TermKey): ShapeTarget {
    const of = (name: (typeof targets)[number]): readonly TermKey[] => this.graph.objects(node, sh + name);
    return {
      shape: this.shape(node),
      nodes: of('targetNode'),
      classes: this.isClass(node) ? [...of('targetClass'), node] : of('targetClass'),
      subjectsOf: of('targetSubjectsOf'),
      objectsOf: of('targetObjectsOf'),
    };
  }

  /** Returns the compiled shape of a node. @throws UnusableShapes */
  shape(node: TermKey): Shape {
    const known = this.shapes.get(node);
    if (known) return known;
    const properties = this.graph.properties(node);
    if (!properties && !isBlank(node))
      throw new UnusableShapes(`The shape ${this.text(node)} is used, but the document does not define it.`);
    if (this.shapes.size >= maxShapes) throw new UnusableShapes(`The document has more than ${maxShapes} shapes.`);
    const [severity = violation] = this.graph.objects(node, `${sh}severity`);
    const messages = this.graph.objects(node, `${sh}message`);
    if (!isIri(severity) || messages.some((each) => isIri(each) || isBlank(each)))
      throw new UnusableShapes(`sh:severity or sh:message of the shape ${this.text(node)} is not valid.`);
    const paths = this.graph.objects(node, `${sh}path`);
    if (paths.length > 1) throw new UnusableShapes(`The shape ${this.text(node)} has more than one sh:path.`);
    const shape: Shape = {
      node,
      path: paths[0] === undefined ? undefined : readPath(this.graph, paths[0]),
      ...{ severity, messages },
      isDeactivated: isTrueLiteral(this.graph.objects(node, `${sh}deactivated`)[0]),
      checks: [],
    };
    this.shapes.set(node, shape);
    for (const [predicate, values] of properties ?? [])
      if (predicate.startsWith(sh)) this.compile(shape, predicate, values);
    return shape;
  }

  private compile(shape: Shape, predicate: TermKey, values: readonly TermKey[]): void {
    const name = predicate.slice(sh.length);
    const build = constraints.get(name);
    if (!build && unsupported.has(name)) throw notCore(`sh:${name}, which the shape ${this.text(shape.node)} has,`);
    if (!build && !others.has(name)) this.ignore(name, shape);
    if (values.length > 1 && singleValued.has(name))
      throw new UnusableShapes(`The shape ${this.text(shape.node)} has more than one sh:${name}.`);
    for (const value of build ? values : []) {
      const check = build!(new Parameter(this, shape, [name, value]));
      if (check) shape.checks.push(check);
    }
  }

  /** Warns about a property that SHACL does not define, but only once: a document may use the property in each shape. */
  private ignore(name: string, { node }: Shape): void {
    if (this.ignored.has(name) || this.ignored.size >= maxWarnings) return;
    this.ignored.add(name);
    const shown = name.slice(0, longestTerm);
    this.warnings.push(
      `sh:${shown}, which the shape ${this.text(node)} has, is not a property of SHACL. It is ignored`,
    );
  }

  /** Returns a term as text for a message. */
  text(token: TermKey): string {
    const cut = (text: string): string => (text.length > longestTerm ? `${text.slice(0, longestTerm)}…` : text);
    if (isIri(token)) return this.compact(token) ?? `<${cut(token)}>`;
    if (isBlank(token)) return `_:${rawOf(token)}`;
    const { kind, text, language } = toValue(token);
    if (kind === 'number' || kind === 'boolean') return cut(text);
    return `"${cut(text)}"${language === undefined ? '' : `@${language}`}`;
  }

  path(path: Path): string {
    return pathText(path, (iri) => this.text(iri));
  }
}

const notCore = (what: string): UnusableShapes =>
  new UnusableShapes(`${what} is not supported. Shapes can use SHACL Core only.`);
