/** Features that settings turn on, for controllers of the storage. */
import { html, nothing, type TemplateResult } from 'lit';
import { readStatus, type Status } from './controller.js';

export interface Feature {
  readonly title: string;
  readonly text: string;
  /** Name of the setting that turns the feature on. */
  readonly setting: string;
  readonly isOn: boolean;
}

const all: readonly (readonly [setting: string, title: string, text: string])[] = [
  ['lws.sparql.endpoint.enabled', 'Queries', 'Ask in SPARQL over everything that you may read.'],
  ['lws.search-index.enabled', 'Search by type', 'Find items by the types of the things that they describe.'],
  ['lws.text-search.enabled', 'Search by words', 'Find items by words, and read names instead of addresses.'],
  ['lws.shapes.enabled', 'Shapes and forms', 'Check what is written against SHACL shapes, and edit it in forms.'],
  ['lws.agents.enabled', 'Agents', 'Give AI agents tools (MCP), each with its own access and until a date.'],
  ['lws.versions.all', 'Versions', 'Keep earlier states of all items, to compare, cite and restore.'],
  ['lws.signposting', 'Signposting', 'For archives and harvesters: links of FAIR Signposting, and a DCAT catalog.'],
  ['lws.webdav.enabled', 'WebDAV', 'Open the storage in file managers and rclone.'],
];

/** Returns the features of this storage. */
export const featuresOf = ({ settings }: Status): readonly Feature[] =>
  all.flatMap(([setting, title, text]) => {
    const known = settings.find(({ name }) => name === setting);
    return known ? [{ setting, title, text, isOn: known.value === true }] : [];
  });

/** Returns the features of this storage. Empty for users without control. */
export async function storageFeatures(): Promise<readonly Feature[]> {
  const status = await readStatus();
  return status ? featuresOf(status) : [];
}

/** Renders a list of the features of this storage. For a feature that is off, names the setting. */
export const featureList = (features: readonly Feature[]): TemplateResult | typeof nothing =>
  features.length === 0
    ? nothing
    : html`<h2>What this storage can do</h2>
      <p class="soft">A feature that is off costs nothing. To turn it on, start the server with the flag that is named, or set it in <code>config.json</code>.</p>
      <ul class="features" aria-label="Features">${features.map(
        ({ title, text, setting, isOn }) => html`<li>
          <span class=${isOn ? 'pill good' : 'pill'}>${isOn ? 'On' : 'Off'}</span>
          <div><strong>${title}</strong><br><span class="soft">${text}</span>${isOn ? nothing : html` <code>--${setting.replace(/^lws\./, '')}=true</code>`}</div>
        </li>`,
      )}</ul>`;
