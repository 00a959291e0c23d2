/** Plug-in API: definition of a component, its settings and its errors. */
export type { CommandContext } from '../component/component.js';
export { type Component, defineComponent } from '../component/component.js';
export type { Installation, Platform } from '../component/contract.js';
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
} from '../settings/settings.js';
export { CommandError, LwsError, tooBusy } from '../tools/errors.js';
export type { Answered, Metric, WrittenBatch } from '../tools/metrics.js';
