/** Plug-in API: definition of a component, its settings and its errors. */
export {
  type CommandContext,
  type Component,
  defineComponent,
  type Installation,
  type Platform,
} from '../component/contract.js';
export {
  flag,
  integer,
  list,
  matching,
  optional,
  type Setting,
  type SettingParser,
  SettingsError,
  type SettingsOf,
  setting,
  text,
} from '../settings/settings.js';
export { CommandError, LwsError, tooBusy } from '../tools/errors.js';
export type { Answered, Metric, WrittenBatch } from '../tools/metrics.js';
