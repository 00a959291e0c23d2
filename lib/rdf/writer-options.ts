/** Options of RDF writers. */
export interface WriterOptions {
  /** IRI of the document. The document and its fragments are written first, and Turtle uses references relative to it. */
  readonly base: string;
  /** Namespace IRIs by prefix name. Each syntax omits the prefixes that it cannot declare. */
  readonly prefixes: Readonly<Record<string, string>>;
}
