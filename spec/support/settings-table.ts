/** Settings as `config.json` and as the table of `docs/settings.md`. A spec compares them with the generated files. */
import { governed, profiles } from '../../lib/settings/profile.js';
import type { SettingsTable } from '../../lib/settings/settings.js';

const entries = (tables: readonly SettingsTable[]) => tables.flatMap((table) => Object.values(table));

/** Returns the settings file with all defaults. */
export const settingsFile = (tables: readonly SettingsTable[]): string =>
  `${JSON.stringify(Object.fromEntries(entries(tables).map((entry) => [entry.name, governed.has(entry.name) ? null : entry.default])), null, 2)}\n`;

/** Returns a Markdown table with one row for each setting. */
export function settingsMarkdown(tables: readonly SettingsTable[]): string {
  const written = (value: unknown): string => `\`${JSON.stringify(value).replaceAll('|', '\\|')}\``;
  const rows = entries(tables).map(({ name, default: value, doc, parser, scope }) => {
    const byProfile = Object.entries(profiles).flatMap(([profile, { settings }]) =>
      name in settings ? `; ${profile}: ${written(settings[name])}` : [],
    );
    const fits = governed.has(name) ? `${parser.expectation}, or nothing` : parser.expectation;
    const shown = value === null ? 'none' : written(value) + byProfile.join('');
    return `| \`${name}\`${scope ? ' *' : ''} | ${shown} | ${doc} | ${fits} |`;
  });
  return ['| setting | default | what it does | value |', '|---|---|---|---|', ...rows].join('\n');
}
