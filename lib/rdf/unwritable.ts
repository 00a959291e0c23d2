/** Errors of writers for terms that their syntax cannot express. */

/** Thrown if the requested syntax cannot express a valid RDF term. */
export class UnwritableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** Thrown if a predicate has no XML name (RDF/XML 1.1, 5.1 and 6.1.4: property elements are qualified names). */
export class UnwritablePredicateError extends UnwritableError {
  readonly predicate: string;

  constructor(predicate: string) {
    super(`The predicate ${JSON.stringify(predicate)} cannot be written as a property element name.`);
    this.predicate = predicate;
  }
}

/** Thrown if a literal has a text or language tag that the syntax cannot express. */
export class UnwritableLiteralError extends UnwritableError {
  readonly value: string;

  constructor(value: string, reason: string) {
    super(`A literal cannot be written: ${reason}.`);
    this.value = value;
  }
}
