/** Validates the arguments of a tool call by the schema of the tool. */
import type { ArgumentSchema, Tool, ToolArguments } from '../../lib/component/tools.js';
import { LwsError } from '../../lib/tools/errors.js';
import { isObject } from '../../lib/tools/json/exact-json.js';

const refused = (detail: string): LwsError => new LwsError('bad-request', detail);

/** Returns the arguments if they are valid. @throws LwsError `bad-request` with the name of an invalid argument */
export function argumentsOf({ name, inputSchema }: Tool, given: unknown): ToolArguments {
  const { properties, required = [] } = inputSchema;
  if (!isObject(given)) throw refused('The arguments must be a JSON object.');
  const unknown = Object.keys(given).find((each) => !Object.hasOwn(properties, each));
  if (unknown !== undefined)
    throw refused(
      `${JSON.stringify(unknown.slice(0, 60))} is not an argument of ${name}. Its arguments are: ${Object.keys(properties).join(', ') || 'none'}.`,
    );
  const missing = required.find((each) => given[each] === undefined);
  if (missing !== undefined) throw refused(`The argument ${missing} is required: ${properties[missing]!.description}`);
  for (const [each, value] of Object.entries(given)) {
    const fault = faultOf(value, properties[each]!);
    if (fault !== undefined) throw refused(`The argument ${each} must be ${fault}.`);
  }
  return given as ToolArguments;
}

/** Returns a description of the valid values, or `undefined` if the value is valid. */
function faultOf(value: unknown, schema: ArgumentSchema): string | undefined {
  const { type, enum: allowed, maxLength, minimum, maximum, items, maxItems = Number.MAX_SAFE_INTEGER } = schema;
  if (type === 'array') {
    const isList = Array.isArray(value) && value.length <= maxItems;
    const isValid =
      isList && value.every((item) => faultOf(item, { description: '', ...items!, type: 'string' }) === undefined);
    return isValid
      ? undefined
      : `an array of strings${items?.enum ? ` among ${items.enum.join(', ')}` : ''}, at most ${maxItems}`;
  }
  if (type === 'string') {
    if (typeof value !== 'string') return 'a string';
    if (allowed && !allowed.includes(value)) return `one of ${allowed.join(', ')}`;
    return maxLength !== undefined && value.length > maxLength ? `at most ${maxLength} characters long` : undefined;
  }
  if (type === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false';
  const isInside = Number.isSafeInteger(value) && !(Number(value) < minimum! || Number(value) > maximum!);
  return isInside ? undefined : `an integer from ${minimum ?? 'any'} to ${maximum ?? 'any'}`;
}
