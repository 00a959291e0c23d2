/** The parser of n3 without its streams, since the package's types refer to Node.js. */
declare module 'n3/src/N3Parser.js' {
  export interface Term {
    readonly termType: string;
    readonly value: string;
    readonly language?: string;
    /** Base direction of a literal. Empty without a direction. */
    readonly direction?: string;
    readonly datatype?: Term;
    /** Subject of a triple term. `undefined` for any other term, like its predicate and object. */
    readonly subject?: Term;
    readonly predicate?: Term;
    readonly object?: Term;
  }
  export interface Quad {
    readonly subject: Term;
    readonly predicate: Term;
    readonly object: Term;
  }
  export default class N3Parser {
    constructor(options?: { readonly format?: string; readonly baseIRI?: string });
    /** @throws Error with a `context` that contains the line */
    parse(text: string, callbacks?: { readonly onPrefix: (prefix: string, namespace: Term) => void }): Quad[];
  }
}
