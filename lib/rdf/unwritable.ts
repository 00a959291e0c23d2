/** The errors of a writer that is given a term which its syntax has no way to write. They know RDF terms only. */

/** A term that the asked syntax cannot write, though RDF permits it. */
export class UnwritableError extends Error {
  constructor(message: string) {
    super(message);
    this.name = new.target.name;
  }
}

/** A predicate that has no name in XML (RDF/XML 1.1, 5.1 and 6.1.4: property elements are qualified names). */
export class UnwritablePredicateError extends UnwritableError {
  readonly predicate: string;

  constructor(predicate: string) {
    super(`The predicate ${JSON.stringify(predicate)} cannot be written as the name of a property element.`);
    this.predicate = predicate;
  }
}

/** A literal of which the text or the language tag lies outside of what the syntax can hold. */
export class UnwritableLiteralError extends UnwritableError {
  readonly value: string;

  constructor(value: string, reason: string) {
    super(`A literal cannot be written: ${reason}.`);
    this.value = value;
  }
}
