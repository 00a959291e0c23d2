/** The built pages and their files, read once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Platform, SettingsError } from '../../lib/plugin/component.js';
import { type Reply, type Route, route } from '../../lib/plugin/requests.js';

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/**
 * Returns the Content Security Policy. It allows no inline code, no other origin and no embedding. From this origin, it allows
 * only the files of the console, because stored resources have the same origin.
 * @param storage sources for the storage's root in the policy
 * @param tiles URL of map tiles, whose origin is allowed, or an empty string
 */
const policyFor = (storage: readonly string[], tiles: string): string => {
  const own = storage.map((root) => `${root}app/`).join(' ');
  return [
    "default-src 'none'",
    `script-src ${own}`,
    `style-src ${own}`,
    `img-src ${own} blob: data:${tiles === '' ? '' : ` ${new URL(tiles).origin}`}`,
    `connect-src ${storage.join(' ')}`,
    'frame-src blob:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html',
  ].join('; ');
};

/** Returns the sources for the storage at its base URI and at the requested host. Without scheme, the page's scheme applies. */
function namesOf(rootIri: string, host = ''): readonly string[] {
  const { pathname } = new URL(rootIri);
  return /^[\w.-]+(:\d+)?$/.test(host) ? [...new Set([rootIri, `${host}${pathname}`])] : [rootIri];
}

const common: Reply['fields'] = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
const pageFields: Reply['fields'] = {
  ...common,
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const folder = fileURLToPath(new URL('../../console', import.meta.url));
const bodies = new Map<string, Buffer>();

/** Returns a file's content, cached for all storages of a deployment. @param values replacements for {NAME} in a page */
function bodyOf(name: string, values?: Readonly<Record<string, string>>): Buffer {
  const key = `${name} ${JSON.stringify(values)}`;
  let body = bodies.get(key);
  if (!body) {
    body = readFileSync(join(folder, name));
    for (const [placeholder, value] of Object.entries(values ?? {}))
      body = Buffer.from(body.toString('utf8').replace(`{${placeholder}}`, () => value));
    bodies.set(key, body);
  }
  return body;
}

const escaped = (text: string): string => text.replace(/[&<>"{]/g, (each) => `&#${each.charCodeAt(0)};`);

/** Returns the routes of the two pages and their files. @throws SettingsError if the console was not built */
export function fileRoutes(
  { rootIri, home = '', administration }: Platform,
  { tiles, attribution }: { readonly tiles: string; readonly attribution: string },
): readonly Route[] {
  if (!existsSync(join(folder, 'app.html')))
    throw new SettingsError('The console is not built. Run "npm run build", or set lws.console.enabled to false.');
  const title = administration.describeSettings().find(({ name }) => name === 'lws.catalog.title')?.value ?? '';
  const values = {
    ...{ COMMAND: administration.executable, HOME: home, TITLE: escaped(String(title)) },
    ...{ TILES: tiles, ATTRIBUTION: attribution },
  };
  const page = (path: string, name: string): Route => {
    const body = bodyOf(name, values);
    const policy = (host?: string) => ({ 'Content-Security-Policy': policyFor(namesOf(rootIri, host), tiles) });
    return route('public', `GET HEAD ${path}`, ({ req }) => ({
      status: 200,
      fields: { ...pageFields, ...policy(req.headers.host) },
      body,
    }));
  };
  const files = readdirSync(folder).filter((name) => extname(name) in mediaTypes);
  return [
    page('/app', 'app.html'),
    page('/callback', 'callback.html'),
    // All other names return the response of a reserved path.
    ...files.map((name) => {
      const reply = fileReply(name);
      return route('public', `GET HEAD /app/${name}`, () => reply);
    }),
  ];
}

/** Returns the response with a file. Clients cache it forever, because the file name contains a hash of the content. */
const fileReply = (name: string): Reply => ({
  status: 200,
  fields: {
    ...common,
    'Content-Type': mediaTypes[extname(name)]!,
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // As a top-level document, an image could run scripts.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  },
  body: bodyOf(name),
});
