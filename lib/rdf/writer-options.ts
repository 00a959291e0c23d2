/** What every writer of RDF is told beside the graph. It knows names only. */
export interface WriterOptions {
  /** The IRI of the document: it and its fragments come first, and Turtle writes references relative to it. */
  readonly base: string;
  /** Namespace IRIs by prefix name. Those that a syntax has no way to declare are left out there. */
  readonly prefixes: Readonly<Record<string, string>>;
}
