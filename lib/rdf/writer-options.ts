/** Options of RDF writers. */
export interface WriterOptions {
  /** IRI of the document. It and its fragments come first, and Turtle writes references relative to it. */
  readonly base: string;
  /** Namespace IRIs by prefix name. Each syntax omits those that it cannot declare. */
  readonly prefixes: Readonly<Record<string, string>>;
}
