/**
 * Settings: a table entry for each (name, parser, default, description), and the precedence of the four sources. Layers and
 * components have their own tables.
 */
import { readFileSync } from 'node:fs';
import { governed, type ProfileName, profileSetting, profiles } from './profile.js';

/** Parses a value from JSON (`config.json`) or from text (environment, flags). Returns `undefined` if it is not valid. */
export interface SettingParser<T> {
  /** Description of valid values, as the end of the sentence "expected ...". */
  readonly expectation: string;
  parse(raw: unknown): T | undefined;
}

export interface Setting<T> {
  readonly name: string;
  readonly parser: SettingParser<T>;
  readonly default: T;
  readonly doc: string;
  /** `storage`: each storage of a deployment may have its own value. Absent: the operator sets one value for all storages. */
  readonly scope?: 'storage' | undefined;
}

// biome-ignore lint/suspicious/noExplicitAny: a table mixes settings of every type; SettingsOf recovers each of them.
export type SettingsTable = Readonly<Record<string, Setting<any>>>;
export type SettingsOf<T extends SettingsTable> = {
  readonly [K in keyof T]: T[K] extends Setting<infer V> ? V : never;
};

export function setting<T>(
  name: string,
  parser: SettingParser<T>,
  fallback: T,
  doc: string,
  scope?: 'storage',
): Setting<T> {
  return { name, parser, default: fallback, doc, scope };
}

/** Thrown for an invalid setting. The message contains key, value, expectation and source. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'SettingsError';
  }
}

export const text = (expectation = 'a string'): SettingParser<string> => ({
  expectation,
  parse: (raw) => (typeof raw === 'string' ? raw : undefined),
});

/** Returns a parser for strings that pass a test. */
export const matching = (passes: (value: string) => boolean, expectation: string): SettingParser<string> => ({
  expectation,
  parse: (raw) => (typeof raw === 'string' && passes(raw) ? raw : undefined),
});

export const flag: SettingParser<boolean> = {
  expectation: 'true or false',
  parse: (raw) => (raw === true || raw === 'true' ? true : raw === false || raw === 'false' ? false : undefined),
};

export const integer = (least: number, most = Number.MAX_SAFE_INTEGER): SettingParser<number> => ({
  expectation:
    most === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${least}`
      : `a whole number from ${least} to ${most}`,
  parse: (raw) => {
    const value = typeof raw === 'string' && /^-?\d+$/.test(raw) ? Number(raw) : raw;
    return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most
      ? (value as number)
      : undefined;
  },
});

export const oneOf = <T extends string>(values: readonly T[]): SettingParser<T> => ({
  expectation: `one of ${values.join(', ')}`,
  parse: (raw) => values.find((value) => value === raw),
});

/** Parses a list: a JSON array in the file, separated by commas or spaces in environment and flags (rule 18.1). */
export const list: SettingParser<readonly string[]> = {
  expectation: 'a list of strings',
  parse: (raw) => {
    if (typeof raw === 'string') return raw.split(/[\s,]+/).filter((item) => item !== '');
    return Array.isArray(raw) && raw.every((item) => typeof item === 'string') ? raw : undefined;
  },
};

/** Returns a parser for an optional value: absent if it is `null` in the file, or an empty string elsewhere. */
export const optional = <T>(parser: SettingParser<T>): SettingParser<T | null> => ({
  expectation: `${parser.expectation}, or nothing`,
  parse: (raw) => (raw === null || raw === '' ? null : parser.parse(raw)),
});

export interface SettingSources {
  /** Content of the settings file, and name of the file for messages. */
  readonly file?: { readonly name: string; readonly content: unknown };
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /** Flags without dashes: names of settings, with or without `lws.`. The exact name takes precedence. */
  readonly flags?: Readonly<Record<string, string>>;
}

export interface EffectiveSetting {
  readonly setting: Setting<unknown>;
  readonly value: unknown;
  readonly source: string;
}

/** Effective values of all settings, with their sources. */
export class Settings {
  constructor(private readonly values: ReadonlyMap<string, EffectiveSetting>) {}

  /** Returns the values of one table, by member name. */
  of<T extends SettingsTable>(table: T): SettingsOf<T> {
    const entries = Object.entries(table).map(([member, { name }]) => [member, this.values.get(name)?.value]);
    return Object.fromEntries(entries) as SettingsOf<T>;
  }

  /** Returns a copy in which a setting has another value. */
  with(name: string, value: unknown, source: string): Settings {
    const { setting } = this.values.get(name)!;
    return new Settings(new Map([...this.values, [name, { setting, value, source }]]));
  }

  all(): readonly EffectiveSetting[] {
    return [...this.values.values()];
  }
}

/** Setting as it is shown to callers other than the operator. */
export interface DescribedSetting {
  readonly name: string;
  readonly doc: string;
  /** Effective value. Absent for a secret that is set. */
  readonly value?: unknown;
  readonly source: string;
}

/** Returns true for secrets. Recognized by name, so that third-party components cannot forget to declare them. */
const isSecret = (name: string): boolean => /(?:secret|password|passphrase|secret-access-key)$/.test(name);

/** Source of a storage's own settings in a deployment, for messages. */
export const ownRecord = 'the record of the storage';

/** Returns the settings to show. @param isTenant true to return only a storage's own settings, without other sources */
export const describeSettings = (settings: Settings, isTenant = false): readonly DescribedSetting[] =>
  settings
    .all()
    .filter(({ setting: { scope } }) => !isTenant || scope === 'storage')
    .map(({ setting: { name, doc }, value, source }) => ({
      name,
      doc,
      source: !isTenant || source === ownRecord || source === 'default' ? source : 'the deployment',
      ...(isSecret(name) && value !== null && value !== '' ? {} : { value }),
    }));

/** Returns the name of the environment variable: `LWS_BASE_URI` for `lws.base-uri`. */
export const environmentName = (name: string): string => name.toUpperCase().replace(/[.-]/g, '_');

/**
 * Merges the sources over the defaults: file, environment, flags, in increasing precedence (rule 18.1). Unknown environment
 * variables are ignored (see `unknownVariables`), because other programs may use the same prefix.
 * @throws SettingsError for an unknown key in the file or flags, and for an invalid value
 */
export function loadSettings(tables: readonly SettingsTable[], sources: SettingSources): Settings {
  const known = new Map<string, Setting<unknown>>();
  for (const table of tables) for (const entry of Object.values(table)) known.set(entry.name, entry);
  const values = new Map<string, EffectiveSetting>();
  const give = (entry: Setting<unknown>, value: unknown, source: string): void =>
    void values.set(entry.name, { setting: entry, value, source });
  for (const entry of known.values()) give(entry, entry.default, 'default');

  const lay = (key: string, raw: unknown, source: string): void => {
    const entry = known.get(key);
    if (!entry) throw new SettingsError(unknownKey(key, source, [...known.keys()]));
    const value = entry.parser.parse(raw);
    // `null` leaves the setting to the profile. An empty string is also an empty list.
    if (value !== undefined) give(entry, value, source);
    else if (governed.has(key) && (raw === null || raw === '')) give(entry, entry.default, 'default');
    else
      throw new SettingsError(
        `${key} is ${JSON.stringify(raw)} (from ${source}); expected ${entry.parser.expectation}.`,
      );
  };

  if (sources.file) {
    const { name, content } = sources.file;
    if (typeof content !== 'object' || content === null || Array.isArray(content))
      throw new SettingsError(`${name} must contain a JSON object of settings.`);
    for (const [key, raw] of Object.entries(content)) lay(key, raw, name);
  }
  for (const key of known.keys()) {
    const raw = sources.environment?.[environmentName(key)];
    if (raw !== undefined) lay(key, raw, `environment ${environmentName(key)}`);
  }
  for (const [key, raw] of Object.entries(sources.flags ?? {}))
    lay(known.has(key) || key.startsWith('lws.') ? key : `lws.${key}`, raw, `flag --${key}`);
  const profile = values.get(profileSetting)?.value as ProfileName | null | undefined;
  if (profile)
    for (const [name, value] of Object.entries(profiles[profile].settings))
      if (values.get(name)?.source === 'default') give(known.get(name)!, value, `${profileSetting}=${profile}`);
  return new Settings(values);
}

/** Returns the settings that the profile has set, as text: `lws.access-control=wac`. */
export const setByProfile = (settings: Settings): readonly string[] =>
  settings
    .all()
    .filter(({ source }) => source.startsWith(`${profileSetting}=`))
    .map(({ setting: { name }, value }) => `${name}=${[value].flat().join(',')}`);

/** Reads a settings file. @throws SettingsError if it cannot be read or is not JSON */
export function readSettingsFile(path: string): { name: string; content: unknown } {
  let content: string;
  try {
    content = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new SettingsError(`The settings file ${path} cannot be read: ${(cause as Error).message}.`);
  }
  try {
    return { name: path, content: JSON.parse(content) };
  } catch (cause) {
    throw new SettingsError(`The settings file ${path} is not JSON: ${(cause as Error).message}.`);
  }
}

/** Returns a sentence for each unknown environment variable that looks like a setting. */
export function unknownVariables(
  settings: Settings,
  environment: NonNullable<SettingSources['environment']>,
): string[] {
  const known = settings.all().map(({ setting: { name } }) => environmentName(name));
  return Object.keys(environment)
    .filter((name) => name.startsWith('LWS_') && !known.includes(name))
    .map((name) => {
      const nearest = nearestName(name, known);
      return `${name} in the environment is not a setting and is ignored${meant(nearest)}`;
    });
}

function unknownKey(key: string, source: string, known: readonly string[]): string {
  const nearest = known.find((name) => name === `lws.${key}`) ?? nearestName(key, known);
  return `Unknown setting ${key} (from ${source})${meant(nearest)}`;
}

/** Returns a suggestion, as the end of a sentence. */
export const meant = (nearest: string | undefined): string =>
  nearest === undefined ? '.' : `. Did you mean ${nearest}?`;

/** Returns the known name with the smallest edit distance, if it is close enough to be a typo. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = Math.max(3, Math.floor(name.length / 3));
  for (const candidate of known) {
    const distance = editDistance(name, candidate);
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length]!;
}

/** Parses a list of issuers: https URLs without query and fragment (RFC 8414 2). http is allowed for development. */
export const issuerList: SettingParser<readonly string[]> = {
  expectation: 'a list of https URLs without query and fragment',
  parse: (raw) => {
    const issuers = list.parse(raw);
    return issuers?.every((issuer) => /^https?:\/\/[^?#\s]+$/i.test(issuer) && URL.canParse(issuer))
      ? issuers
      : undefined;
  },
};
