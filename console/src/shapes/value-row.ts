/** Inputs for one value of a form. */
import { html, nothing, type TemplateResult } from 'lit';
import { live } from 'lit/directives/live.js';
import { prefixedName, wellKnown } from '../editor/prefixes.js';
import { iriOf, rdfType, type Term, tagOf, termText, xsd } from '../rdf/document.js';
import { iriName } from '../storage/labels.js';
import { type Field, inputType, literalOfField } from './fields.js';
import './type-field.js';

export interface ValueRow {
  readonly field: Field;
  readonly term: Term;
  /** Name of the input for screen readers. */
  readonly name: string;
  readonly set: (term: Term) => void;
  /** Returns the name of an IRI. */
  readonly nameOf: (iri: string) => string;
  /** Returns the label of an IRI, or `undefined`. */
  readonly labelOf: (iri: string) => string | undefined;
  /** Prefixes of the document. */
  readonly prefixes: Readonly<Record<string, string>>;
}

/** Renders the input of a value. If the field has options, the input is a list. */
export function valueRow(value: ValueRow): TemplateResult {
  const { field, term } = value;
  if (term.termType === 'Quad') return html`<span class="grow soft">A triple term. Edit it as text.</span>`;
  if (term.termType === 'BlankNode') return html`<span class="grow soft">A blank node. Edit it as text.</span>`;
  const datatype = field.datatype || datatypeOf(term, field);
  const isBoolean = datatype.endsWith('#boolean');
  const options = isBoolean ? ['true', 'false'].map((each) => literalOfField(each, datatype)) : field.options;
  if (options.length > 0) return optionList(value, options);
  if (isTypeOf(value)) return typeField(value);
  const label = labelOfValue(value);
  if (label !== undefined) return html`<span class="grow value">${iriName(term.value, label)}</span>`;
  const language = languageName(term);
  return html`${input(value, datatype)}${language ? html`<span class="tag soft" aria-hidden="true">${language}</span>` : nothing}`;
}

/** True for a type in a form without shapes, which is chosen in words. */
const isTypeOf = ({ field, term }: ValueRow): boolean =>
  field.isFree === true && field.path === rdfType && term.termType === 'NamedNode';

function typeField({ term, name, set, prefixes }: ValueRow): TemplateResult {
  const typed = (text: string): void => set(iriOf(expanded(text, prefixes)));
  return html`<type-field class="grow" .value=${term.value} .label=${name} .set=${typed}></type-field>`;
}

/** Returns the label that is shown instead of an IRI, or `undefined`. */
const labelOfValue = ({ field, term, labelOf }: ValueRow): string | undefined =>
  term.termType === 'NamedNode' && field.options.length === 0 ? labelOf(term.value) : undefined;

/** Controls that are seldom needed: the address of a labelled link, the type and the language of a value. */
export function valueOptions(value: ValueRow): readonly TemplateResult[] {
  const { field, name, term } = value;
  if (['BlankNode', 'Quad'].includes(term.termType) || isTypeOf(value)) return [];
  const datatype = field.datatype || datatypeOf(term, field);
  const address = labelOfValue(value) === undefined ? [] : [labelledOption('Address', input(value, datatype))];
  const type = field.isFree ? [labelledOption('Type', typeChoice(value))] : [];
  const hasLanguage = field.options.length === 0 && isPlain(term, datatype);
  return [...address, ...type, ...(hasLanguage ? [labelledOption('Language', languageInput(value, name))] : [])];
}

const labelledOption = (text: string, control: TemplateResult): TemplateResult =>
  html`<label><span>${text}</span> ${control}</label>`;

/** True for a literal with a language or without a datatype: only such text can have a language. */
const isPlain = (term: Term, datatype: string): boolean =>
  term.termType === 'Literal' && (datatype === '' || tagOf(term) !== '');

/** Returns the name of the language of a text. Empty without a language. */
export function languageName(term: Term): string {
  const tag = tagOf(term);
  try {
    return tag === '' ? '' : (new Intl.DisplayNames(undefined, { type: 'language' }).of(tag) ?? tag);
  } catch {
    // Browsers do not know the tag, for example because of a base direction.
    return tag;
  }
}

/** Returns the datatype of a literal. Empty for a plain string of a free field, which can get a language. */
const datatypeOf = ({ datatype }: Term, { isFree }: Field): string =>
  isFree ? (datatype?.value ?? '').replace(`${xsd}string`, '') : (datatype?.value ?? '');

function input({ term, name, set, prefixes }: ValueRow, datatype: string): TemplateResult {
  const { value } = term;
  const language = tagOf(term);
  const isIri = term.termType === 'NamedNode';
  const typed = ({ target }: Event): void => {
    const text = (target as HTMLInputElement).value;
    set(
      isIri ? iriOf(expanded(text.trim(), prefixes)) : literalOfField(text, language === '' ? datatype : '', language),
    );
  };
  const type = isIri ? 'text' : inputType(datatype, value);
  return value.includes('\n')
    ? html`<textarea class="grow" rows="4" aria-label=${name} .value=${value} @change=${typed}></textarea>`
    : html`<input class="grow" type=${type} step=${type === 'number' ? 'any' : type === 'text' ? nothing : 1} aria-label=${name} placeholder=${isIri ? 'https://…' : nothing}
        autocomplete="off" spellcheck=${isIri ? 'false' : 'true'} .value=${value} @change=${typed}>`;
}

/** Language tags that are suggested. The user can type others. */
export const usualLanguages = 'en de fr it rm es pt nl pl cs da sv fi el tr uk ru ar he fa hi zh ja ko'.split(' ');

const inLanguage = (language: string): Term => ({ termType: 'Literal', value: '', language });

/** Renders an input for the language of a value: a list if the shape names the languages. */
function languageInput({ field, term, set }: ValueRow, name: string): TemplateResult {
  const [language, label] = [tagOf(term), `Language of ${name}`];
  const change = ({ target }: Event): void =>
    set(literalOfField(term.value, '', (target as HTMLInputElement | HTMLSelectElement).value.trim()));
  if (field.languages.length === 0)
    return html`<input class="language" list="form-languages" aria-label=${label} placeholder="en" autocomplete="off" spellcheck="false" .value=${language} @change=${change}>`;
  const offered = [...new Set(['', ...field.languages, language])];
  return html`<select aria-label=${label} @change=${change}>
    ${offered.map((each) => html`<option value=${each} ?selected=${each === language}>${languageName(inLanguage(each)) || 'None'}</option>`)}</select>`;
}

/** Renders suggestions for the languages of all values of a form. */
export const languageList = (): TemplateResult =>
  html`<datalist id="form-languages">${usualLanguages.map((each) => html`<option value=${each}>${languageName(inLanguage(each))}</option>`)}</datalist>`;

function optionList({ term, name, set, nameOf }: ValueRow, options: readonly Term[]): TemplateResult {
  const current = termText(term);
  const isKnown = term.value === '' || options.some((each) => termText(each) === current);
  const all = isKnown ? options : [term, ...options];
  const text = ({ termType, value, language }: Term): string =>
    termType === 'NamedNode' ? nameOf(value) : language ? `${value} (${language})` : value;
  const [{ termType = 'NamedNode', datatype } = {} as Term] = options;
  const none = termType === 'Literal' ? literalOfField('', datatype?.value ?? '') : iriOf('');
  const chosen = ({ target }: Event): void => set(all[(target as HTMLSelectElement).selectedIndex - 1] ?? none);
  return html`<select class="grow" aria-label=${name} @change=${chosen}><option value="">Choose …</option>
    ${all.map((each) => html`<option .selected=${live(termText(each) === current)}>${text(each)}</option>`)}</select>`;
}

/**
 * Returns the IRI of a prefixed name such as `schema:name`, and any other text unchanged. `geo:52.1,4.3` is an IRI with the
 * scheme `geo`, although `geo` is a known prefix.
 */
export function expanded(text: string, prefixes: Readonly<Record<string, string>>): string {
  const [, prefix = '', rest = ''] = /^([\w.-]*):([A-Za-z_][\w-]*)?$/.exec(text) ?? [];
  const namespace = [prefixes, wellKnown].find((each) => Object.hasOwn(each, prefix))?.[prefix];
  return namespace === undefined ? text : namespace + rest;
}

/** Returns a prefixed name that `expanded` converts back to the IRI, or the IRI. */
export function nameToType(iri: string, prefixes: Readonly<Record<string, string>>): string {
  const names = [prefixedName(iri, prefixes), prefixedName(iri, wellKnown)];
  return names.find((name) => name !== undefined && expanded(name, prefixes) === iri) ?? iri;
}

/** Names of the types of a value in a free field, with their datatypes. */
const freeTypes: Readonly<Record<string, string>> = {
  Text: '',
  'Whole number': `${xsd}integer`,
  'Decimal number': `${xsd}decimal`,
  Date: `${xsd}date`,
  'Date and time': `${xsd}dateTime`,
  'Yes or no': `${xsd}boolean`,
  Link: 'iri',
};

/** Renders a field to select the type of a value of a free field. Text that is invalid for a new type is kept. */
function typeChoice({ field, term, name, set, nameOf }: ValueRow): TemplateResult {
  const own = term.termType === 'NamedNode' ? 'iri' : term.language ? '' : datatypeOf(term, field);
  const known = Object.values(freeTypes).includes(own);
  const types = { ...freeTypes, ...(known ? {} : { [nameOf(own)]: own }) };
  const change = ({ target }: Event): void => {
    const type = types[(target as HTMLSelectElement).value] ?? '';
    set(type === 'iri' ? iriOf(term.value) : literalOfField(term.value, type));
  };
  return html`<select aria-label=${`Type of ${name}`} @change=${change}>
    ${Object.entries(types).map(([text, type]) => html`<option value=${text} ?selected=${type === own}>${text}</option>`)}</select>`;
}
