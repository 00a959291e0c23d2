/** Tools for agents, which the component `agents` offers by the Model Context Protocol. */
import type { RouteRequest } from '../http/route.js';

/** Caller of a tool: that of the request which names it. */
export type ToolCaller = Pick<RouteRequest, 'req' | 'access' | 'address'>;

/** JSON Schema of an argument. */
export interface ArgumentSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  readonly description: string;
  readonly enum?: readonly string[];
  /** Characters. */
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of an array, whose items are strings. */
  readonly items?: { readonly type: 'string'; readonly enum?: readonly string[] };
  readonly maxItems?: number;
}

/** Arguments that satisfy the schema. */
export type ToolArguments = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** JSON Schema of the arguments. Others are rejected. */
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
  /** Letters, digits, `_` and `-`. */
  readonly name: string;
  readonly title: string;
  /** What it does and when to use it. A model takes it as an instruction, so it must not contain data of users. */
  readonly description: string;
  readonly inputSchema: ToolSchema;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint?: boolean;
    readonly idempotentHint?: boolean;
  };
  /**
   * Returns the texts of the result.
   * @param given arguments that satisfy the schema
   * @throws LwsError as the same request over HTTP; the agent receives it as a problem
   */
  call(caller: ToolCaller, given: ToolArguments): Promise<readonly string[]>;
}
