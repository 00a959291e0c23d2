/** The built pages and their files, read once. It must not know what they do. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Fields, Reply } from '../../lib/http/reply.js';
import type { Route } from '../../lib/http/route.js';
import { packageRoot } from '../../lib/package-root.js';
import { SettingsError } from '../../lib/settings.js';

const mediaTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Nothing inline, nothing of another origin, and no frame around it. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  'frame-src blob:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types lit-html',
].join('; ');

const common: Fields = { 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' };
const pageFields: Fields = {
  ...common,
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': policy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * Routes of the two pages and what they load.
 * @throws SettingsError when the console was not built
 */
export function fileRoutes(): readonly Route[] {
  const folder = join(packageRoot, 'dist/console');
  if (!existsSync(join(folder, 'app.html')))
    throw new SettingsError('The console is not built. Run "npm run build", or set lws.console.enabled to false.');
  const page = (name: string): Reply => ({ status: 200, fields: pageFields, body: readFileSync(join(folder, name)) });
  const files = readdirSync(folder).filter((name) => extname(name) in mediaTypes);
  const methods = ['GET', 'HEAD'];
  const route = (path: string, reply: Reply): Route => ({ methods, path, access: 'public', handle: () => reply });
  return [
    route('/app', page('app.html')),
    route('/callback', page('callback.html')),
    // What has none of these names is no more there than any other reserved path.
    ...files.map((name) => route(`/app/${name}`, fileReply(folder, name))),
  ];
}

/** Its name has a hash of its content. */
const fileReply = (folder: string, name: string): Reply => ({
  status: 200,
  fields: {
    ...common,
    'Content-Type': mediaTypes[extname(name)]!,
    'Cache-Control': 'public, max-age=31536000, immutable',
    'Cross-Origin-Resource-Policy': 'same-origin',
    // As a document of its own, an image could run scripts.
    'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  },
  body: readFileSync(join(folder, name)),
});
