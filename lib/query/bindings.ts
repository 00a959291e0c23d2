/** Bindings as Comunica hands them on. */
import { BindingsFactory } from '@comunica/utils-bindings-factory';
import type { Term, Variable } from '@rdfjs/types';
import { DataFactory } from 'rdf-data-factory';

const factory = new BindingsFactory(new DataFactory() as never);

/** A solution with those variables bound. */
export const makeBindings = (entries: [Variable, Term][]): unknown => factory.bindings(entries);
