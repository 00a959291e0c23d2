/** The settings as `config.json` and as the table of `docs/settings.md`: both are generated, and a spec keeps them so. */
import { governed, profiles } from '../../lib/profile.js';
import type { SettingsTable } from '../../lib/settings.js';

const entries = (tables: readonly SettingsTable[]) => tables.flatMap((table) => Object.values(table));

/** Every setting with its default, as the settings file. */
export const settingsFile = (tables: readonly SettingsTable[]): string =>
  `${JSON.stringify(Object.fromEntries(entries(tables).map((entry) => [entry.name, governed.has(entry.name) ? null : entry.default])), null, 2)}\n`;

/** Every setting as a row of Markdown. */
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
