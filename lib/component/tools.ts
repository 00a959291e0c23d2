/** Tools for agents. The component `agents` offers them over the Model Context Protocol. */
import type { RouteRequest } from '../http/route.js';

/** Caller of a tool: the caller of the HTTP request with the tool call. */
export type ToolCaller = Pick<RouteRequest, 'req' | 'access' | 'address'>;

/** JSON Schema of one argument. */
export interface ArgumentSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description: string;
  readonly enum?: readonly string[];
  /** Maximum length of a string, in characters. */
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Schema of the items of an array, which are strings. */
  readonly items?: { readonly type: 'string'; readonly enum?: readonly string[] };
  readonly maxItems?: number;
}

/** Arguments that are valid by the schema. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** JSON Schema of all arguments. Other arguments are rejected. */
export interface ToolSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, ArgumentSchema>>;
  readonly required?: readonly string[];
}

export const schemaOf = (properties: ToolSchema['properties'], ...required: readonly string[]): ToolSchema => ({
  type: 'object',
  properties,
  required,
});

export interface Tool {
  /** Name: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly title: string;
  /** Tells a model what the tool does and when to use it. Must not contain data of users, which could be instructions. */
  readonly description: string;
  readonly inputSchema: ToolSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
  };
  /**
   * Calls the tool. Returns the texts of the result.
   * @param given arguments that are valid by the schema
   * @throws LwsError as the same request over HTTP; the agent receives a problem document
   */
  call(caller: ToolCaller, given: ToolArguments): Promise<readonly string[]>;
}
