/** Loads the effective settings and the components that they name. */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Component } from '../../component/component.js';
import { loadSettings, type SettingSources, type Settings, SettingsError } from '../../settings/settings.js';
import { coreSettings } from './core-settings.js';

export interface Effective {
  readonly settings: Settings;
  readonly components: readonly Component[];
}

/**
 * Merges the sources over the defaults, including settings of the components in `lws.components`.
 * @throws SettingsError for an unknown or invalid setting, and for a component that cannot be loaded
 */
export async function effectiveSettings(sources: SettingSources, standard: readonly Component[]): Promise<Effective> {
  const components = await loadComponents(sources, standard);
  return { settings: settingsOf(components, sources), components };
}

/** Merges the sources over the defaults of the server and its components. @throws SettingsError for an unknown or invalid setting */
export const settingsOf = (components: readonly Component[], sources: SettingSources): Settings =>
  loadSettings([coreSettings, ...components.map(({ settings }) => settings)], sources);

/** Returns the standard components and those in `lws.components`. @throws SettingsError if a component cannot be loaded */
export async function loadComponents(
  sources: SettingSources,
  standard: readonly Component[],
): Promise<readonly Component[]> {
  return [...standard, ...(await Promise.all(namedComponents(sources).map(importComponent)))];
}

/** Reads `lws.components` first, because it determines which settings exist. */
function namedComponents({ file, environment, flags }: SettingSources): readonly string[] {
  const { name, parser } = coreSettings.components;
  const given = flags?.[name] ?? flags?.['components'] ?? environment?.['LWS_COMPONENTS'];
  const content = file?.content as Record<string, unknown> | null | undefined;
  // A path is relative to the current directory, or to the settings file. Anything else is a package name.
  const folder = given === undefined && file && existsSync(file.name) ? dirname(file.name) : '.';
  return (parser.parse(given ?? content?.[name] ?? []) ?? []).map((module) =>
    /^\.{0,2}\//.test(module) ? pathToFileURL(resolve(folder, module)).href : module,
  );
}

async function importComponent(module: string): Promise<Component> {
  try {
    return ((await import(module)) as { default: Component }).default;
  } catch (cause) {
    const file = module.startsWith('file:') ? fileURLToPath(module) : module;
    if (file !== module && !existsSync(file))
      throw new SettingsError(`The component ${file} cannot be loaded: it does not exist.`);
    // Omit the name of this file, which Node.js reports as the importer.
    const reason = (cause as Error).message.replace(` imported from ${fileURLToPath(import.meta.url)}`, '');
    throw new SettingsError(`lws.components names ${file}, which cannot be loaded: ${reason}.`);
  }
}
