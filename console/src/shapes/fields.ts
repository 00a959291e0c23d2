/** Fields of a form, derived from the shapes (SHACL Core) of a node. The server validates constraints that have no field. */
import { inLanguageOfReader, iriOf, rdf, type Term, termText, xsd } from '../rdf/document.js';
import type { Graph } from '../rdf/graph.js';
import { wordsOf } from '../storage/words.js';

const sh = 'http://www.w3.org/ns/shacl#';
const rdfs = 'http://www.w3.org/2000/01/rdf-schema#';
const classTypes = [`${rdfs}Class`, 'http://www.w3.org/2002/07/owl#Class'];

/** Kind of a value. `node`: a blank node with nested fields. */
export type ValueKind = 'iri' | 'literal' | 'node';

/** Maximum depth of nested fields, since shapes may refer to themselves. */
const maxDepth = 3;

/** A property shape, and the remaining predicates of its path. */
interface Property {
  readonly shape: Term;
  readonly steps: readonly string[];
}

export interface Field {
  /** IRI of the predicate. */
  readonly path: string;
  /** `sh:name` in the reader's language, or empty. */
  readonly name: string;
  readonly hint: string;
  readonly order: number;
  readonly min: number;
  readonly max: number;
  readonly kinds: readonly ValueKind[];
  readonly datatype: string;
  readonly languages: readonly string[];
  /** Values of `sh:in`. Empty without it. */
  readonly options: readonly Term[];
  /** Initial values of a new node. */
  readonly initial: readonly Term[];
  /** Nested fields of a value that is a blank node. */
  readonly nested: readonly Field[];
  /** True if no shape describes the values. The user then chooses the type of each value. */
  readonly isFree?: boolean;
}

export interface Form {
  readonly fields: readonly Field[];
  /** Count of properties without a field, because of their path or values. */
  readonly uncovered: number;
}

/** Shapes of one or more documents. */
export class FormShapes {
  /** Node shapes with a target. */
  readonly nodes: readonly Term[];

  constructor(private readonly graph: Graph) {
    const isTargeted = (node: Term): boolean =>
      ['targetNode', 'targetSubjectsOf', 'targetObjectsOf'].some((name) => this.values([node], name).length > 0) ||
      this.classesOf(node).length > 0;
    this.nodes = graph.subjects.filter(
      (node) => isTargeted(node) && this.isOn(node) && this.values([node], 'path').length === 0,
    );
  }

  /** Returns the classes whose instances a shape applies to. */
  classesOf(shape: Term): readonly string[] {
    const classes = this.values([shape], 'targetClass').map(({ value }) => value);
    return classTypes.some((type) => this.graph.types(shape).has(type)) ? [...classes, shape.value] : classes;
  }

  /** Returns the name of a shape: its label, or the label of its target class. */
  nameOf(shape: Term): string {
    const [type = shape.termType === 'NamedNode' ? shape.value : ''] = this.classesOf(shape);
    return inLanguageOfReader(this.graph.objects(shape, `${rdfs}label`)) || (type && wordsOf(type));
  }

  nodeOf(shape: Term): Term | undefined {
    return this.values([shape], 'targetNode')[0];
  }

  /** Returns the shapes that apply to a node. */
  applying(node: Term, data: Graph): readonly Term[] {
    const [name, types] = [termText(node), data.types(node, this.graph)];
    const isNode = (each: Term): boolean => termText(each) === name;
    return this.nodes.filter(
      (shape) =>
        this.classesOf(shape).some((each) => types.has(each)) ||
        this.values([shape], 'targetNode').some(isNode) ||
        this.values([shape], 'targetSubjectsOf').some(({ value }) => data.objects(node, value).length > 0) ||
        this.values([shape], 'targetObjectsOf').some(({ value }) =>
          data.quads.some(({ predicate, object }) => predicate.value === value && isNode(object)),
        ),
    );
  }

  /** Returns the fields of shapes, and of the shapes included by `sh:node` and `sh:and`. */
  form(shapes: readonly Term[]): Form {
    return this.formOf(this.properties(shapes), 0);
  }

  private properties(shapes: readonly Term[]): readonly Property[] {
    const all = new Map(shapes.map((shape) => [termText(shape), shape]));
    for (const shape of all.values())
      for (const each of [...this.values([shape], 'node'), ...this.list([shape], 'and')]) all.set(termText(each), each);
    const found = this.values([...all.values()], 'property').filter((property) => this.isOn(property));
    return found.map((shape) => ({ shape, steps: this.steps(shape) }));
  }

  /** Returns the predicates of a path: one, or a sequence. Empty for any other path. */
  private steps(shape: Term): readonly string[] {
    const [path] = this.values([shape], 'path');
    const steps = path?.termType === 'NamedNode' ? [path] : this.graph.list(path);
    return steps.every(({ termType }) => termType === 'NamedNode') ? steps.map(({ value }) => value) : [];
  }

  private formOf(properties: readonly Property[], depth: number): Form {
    const byPath = new Map<string, Property[]>();
    for (const each of properties) {
      const [path = ''] = each.steps;
      byPath.set(path, [...(byPath.get(path) ?? []), each]);
    }
    let uncovered = byPath.get('')?.length ?? 0;
    byPath.delete('');
    const fields = [...byPath].flatMap(([path, group]) => {
      const own = group.flatMap(({ shape, steps }) => (steps.length === 1 ? shape : []));
      const deeper = group.flatMap(({ shape, steps }) => (steps.length > 1 ? { shape, steps: steps.slice(1) } : []));
      const inner = depth < maxDepth ? this.formOf([...deeper, ...this.propertiesOfValues(own)], depth + 1) : undefined;
      const field = this.field(path, own, inner?.fields ?? []);
      if (field.kinds.length === 0) uncovered += group.length;
      else if (field.kinds.includes('node')) uncovered += inner?.uncovered ?? 0;
      return field.kinds.length > 0 ? field : [];
    });
    return { fields: fields.sort((a, b) => a.order - b.order), uncovered };
  }

  /** Returns the property shapes of node shapes, also of those included by `sh:node`. */
  private propertiesOfValues(own: readonly Term[]): readonly Property[] {
    const direct = this.values(own, 'property').map((shape) => ({ shape, steps: this.steps(shape) }));
    return [...direct, ...this.properties(this.values(own, 'node'))];
  }

  /** @param properties all property shapes of one predicate @param nested fields of values that are blank nodes */
  private field(path: string, properties: readonly Term[], nested: readonly Field[]): Field {
    const text = (name: string): string => inLanguageOfReader(this.values(properties, name));
    const numbers = (name: string): number[] => this.values(properties, name).map(({ value }) => Number(value));
    const required = this.values(properties, 'hasValue');
    const kinds =
      properties.length > 0 ? properties.map((each) => this.kinds(each, nested)) : [['node', 'iri'] as const];
    return {
      path,
      name: text('name'),
      hint: text('description'),
      order: Math.min(...numbers('order'), Number.MAX_VALUE),
      min: Math.max(...numbers('minCount'), required.length),
      max: Math.min(...numbers('maxCount'), Number.POSITIVE_INFINITY),
      kinds: kinds.find(({ length }) => length === 1) ?? kinds[0]!,
      datatype: (this.values(properties, 'datatype')[0]?.value ?? '').replace(`${rdf}langString`, ''),
      languages: this.list([...properties, ...this.alternatives(properties)], 'languageIn').map(({ value }) => value),
      options: this.list(properties, 'in'),
      initial: required.length > 0 ? required : this.values(properties, 'defaultValue'),
      nested,
    };
  }

  /** Returns the kinds of values that a property can have. Blank nodes without nested fields are omitted. */
  private kinds(property: Term, nested: readonly Field[]): readonly ValueKind[] {
    const kind = this.values([property], 'nodeKind')[0]?.value.slice(sh.length) ?? '';
    const has = (...names: string[]): boolean => names.some((name) => this.values([property], name).length > 0);
    const nodes: readonly ValueKind[] = nested.length > 0 ? ['node'] : [];
    if (kind === 'BlankNode') return nodes;
    if (kind === 'IRI') return ['iri'];
    if (kind === 'BlankNodeOrIRI' || has('class', 'node', 'property')) return [...nodes, 'iri'];
    if (kind === 'Literal') return ['literal'];
    if (has('datatype', 'languageIn', 'uniqueLang')) return ['literal'];
    const alternatives = this.alternatives([property]).flatMap((each) => this.kinds(each, nested));
    return alternatives.length > 0 ? [...new Set(alternatives)] : ['literal', 'iri'];
  }

  private alternatives(properties: readonly Term[]): readonly Term[] {
    return [...this.list(properties, 'or'), ...this.list(properties, 'xone')];
  }

  private isOn(shape: Term): boolean {
    return !['true', '1'].includes(this.values([shape], 'deactivated')[0]?.value ?? '');
  }

  private values(nodes: readonly Term[], name: string): readonly Term[] {
    return nodes.flatMap((node) => this.graph.objects(node, sh + name));
  }

  private list(nodes: readonly Term[], name: string): readonly Term[] {
    return this.values(nodes, name).flatMap((head) => this.graph.list(head));
  }
}

const integers = 'integer int long short nonNegativeInteger positiveInteger'.split(' ');
const decimal = ['number', /^-?\d{1,15}(?:\.\d+)?$/] as const;
const inputs: Readonly<Record<string, readonly [type: string, form: RegExp]>> = {
  date: ['date', /^\d{4}-\d\d-\d\d$/],
  dateTime: ['datetime-local', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/],
  time: ['time', /^\d\d:\d\d:\d\d$/],
  ...{ decimal, double: decimal, float: decimal },
  ...Object.fromEntries(integers.map((name) => [name, decimal])),
};

/** Returns the input type for a datatype, or `text` if the value does not have the lexical form of this input. */
export function inputType(datatype: string, value: string): string {
  const [type, form] = (datatype.startsWith(xsd) && inputs[datatype.slice(xsd.length)]) || ['text', /^/];
  return value === '' || form.test(value) ? type : 'text';
}

/** Returns the literal of a typed text. */
export function literalOfField(typed: string, datatype: string, language = ''): Term {
  // Browsers omit seconds that are 0.
  const isCut = /^(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d$/.test(typed) && /(?:dateTime|time)$/.test(datatype);
  const value = isCut ? `${typed}:00` : typed;
  if (language !== '') return { termType: 'Literal', value, language };
  return { termType: 'Literal', value, ...(datatype === '' ? {} : { datatype: iriOf(datatype) }) };
}
