/** What every component begins with: its contract, settings, refusals and numbers. */

export { type ErrorCode, LwsError, tooBusy } from '../errors.js';
export type { Log } from '../log.js';
export { type Answered, type Measure, measure, measureBy, type WrittenBatch } from '../measures.js';
export {
  flag,
  integer,
  issuerList,
  list,
  matching,
  optional,
  type SettingParser,
  SettingsError,
  type SettingsOf,
  setting,
  text,
} from '../settings.js';
export { asTyped, packageRoot, packageVersion } from '../threads/package-root.js';
export {
  type Command,
  type CommandContext,
  defineComponent,
  type ForeignState,
  type Installation,
  type Platform,
} from './contract.js';
export {
  type Deployment,
  invitationDays,
  type StorageChange,
  type StorageRecord,
  type Storages,
  templateFolder,
} from './deployment.js';
