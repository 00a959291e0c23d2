/** Plug-in API: definition of a component, its settings and its errors. */
export {
  type Command,
  type CommandContext,
  defineComponent,
  type Installation,
  type Platform,
} from '../component/contract.js';
export { CommandError, type ErrorCode, LwsError, tooBusy } from '../errors.js';
export type { Log } from '../log.js';
export type { Answered, Measure, WrittenBatch } from '../measures.js';
export {
  flag,
  integer,
  list,
  matching,
  optional,
  type SettingParser,
  SettingsError,
  type SettingsOf,
  setting,
  text,
} from '../settings.js';
