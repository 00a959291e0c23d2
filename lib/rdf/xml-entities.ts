/**
 * Checks the entities of an XML document before a parser expands them. Ontologies declare a few short entities for namespaces.
 * Anything else in a DOCTYPE is treated as an attack.
 */
import { LwsError } from '../tools/errors.js';

const longestEntity = 1024;
/** Maximum total characters of expanded entity references. */
const maxExpanded = 8 << 20;

/**
 * Asserts that the entities of a document are harmless.
 * @throws LwsError `malformed-body` for external or parameter entities, entities that refer to entities, and references that
 * expand to more than 8 Mi characters in total
 */
export function assertHarmlessEntities(text: string): void {
  const start = text.indexOf('<!DOCTYPE');
  if (start < 0) {
    if (/<!(?:ENTITY|ELEMENT|ATTLIST|NOTATION)/.test(text)) throw harmful('has declarations outside the DOCTYPE');
    return;
  }
  const lengths = declaredEntities(text, start);
  let expanded = 0;
  for (const [, name] of text.matchAll(/&([^\s;&<#]{1,200});/g)) {
    expanded += lengths.get(name!) ?? 0;
    if (expanded > maxExpanded) throw harmful(`expands to more than ${maxExpanded} characters`);
  }
}

function declaredEntities(text: string, start: number): Map<string, number> {
  const lengths = new Map<string, number>();
  if (/^<!DOCTYPE[^[>]*\b(?:SYSTEM|PUBLIC)\b/.test(text.slice(start, start + 1024)))
    throw harmful('refers to an external document type');
  for (let at = text.indexOf('<!ENTITY', start); at >= 0; at = text.indexOf('<!ENTITY', at + 8)) {
    const declaration = /^<!ENTITY\s+([^\s%"'<>&]{1,200})\s+(?:"([^"]*)"|'([^']*)')\s*>/.exec(
      text.slice(at, at + longestEntity + 512),
    );
    if (!declaration) throw harmful('declares an entity that is external, too long or malformed');
    const value = declaration[2] ?? declaration[3] ?? '';
    if (value.length > longestEntity || /[<%]|&(?!#)/.test(value))
      throw harmful(`declares the entity ${declaration[1]}, which is too long or refers to another entity`);
    lengths.set(declaration[1]!, value.length);
  }
  return lengths;
}

const harmful = (what: string): LwsError =>
  new LwsError('malformed-body', `The RDF/XML document ${what}. This is not accepted.`);
