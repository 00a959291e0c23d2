/** What the server prints when it listens: where it is, and where to go next. */

import { type Settings, setByProfile } from '../settings.js';
import { asTyped } from '../threads/package-root.js';
import type { Server } from './server.js';
import { coreSettings } from './settings/core-settings.js';
import { signInLink } from './sign-in-link.js';
import { readIdentity, signCredential, signLinkCredential } from './storage/owner-credential.js';

const validSeconds = 3600;

/** The lines for the terminal; with a minted owner, a ready credential and commands that work when they are pasted. */
export async function banner(
  { baseUri, mintedOwner, port }: Pick<Server, 'baseUri' | 'mintedOwner'> & { readonly port?: number },
  settings: Settings,
  page: string | undefined,
): Promise<string> {
  const core = settings.of(coreSettings);
  const place = core.dataDir === coreSettings.dataDir.default ? '' : ` --data-dir ${core.dataDir}`;
  const { port: own, protocol } = new URL(baseUri);
  const isElsewhere = port !== undefined && port !== (Number(own) || (protocol === 'https:' ? 443 : 80));
  const lines = [
    '',
    `Quadpod serves ${baseUri}/ from ${core.dataDir}${isElsewhere ? `, and listens on port ${port}` : ''}`,
  ];
  if (mintedOwner) {
    const identity = readIdentity(mintedOwner);
    const credential = await signCredential(identity, baseUri, validSeconds);
    lines.push(
      '',
      ...(page
        ? [
            'Open it in a browser, signed in as its owner for an hour; the link is good for one browser:',
            `  ${signInLink(page, await signLinkCredential(identity, baseUri, validSeconds))}`,
            '',
          ]
        : []),
      `The storage is closed to everybody but its owner, ${identity.did}`,
      `(key in ${mintedOwner}). A credential of the owner, valid for an hour; another one, and another link: ${asTyped()} owner --key ${mintedOwner}${place}`,
      '',
      `export TOKEN=${credential}`,
      '',
      'Try, in another terminal, after that line:',
      `  curl -H "Authorization: Bearer $TOKEN" -X PUT ${baseUri}/notes/`,
      `  curl -H "Authorization: Bearer $TOKEN" -X PUT -H 'Content-Type: text/turtle' --data '<#it> a <http://schema.org/Note> ; <http://schema.org/text> "Hello" .' ${baseUri}/notes/hello`,
      `  curl -H "Authorization: Bearer $TOKEN" -H 'Accept: application/ld+json' ${baseUri}/notes/hello`,
    );
  } else if (core.devOpen && core.owners.length === 0)
    lines.push('', 'OPEN MODE: everybody who reaches this address may read, change and delete everything.');
  else lines.push(`Owners: ${core.owners.join(', ')}`);
  const set = setByProfile(settings);
  if (set.length > 0) lines.push(`The profile ${core.profile} sets ${set.join(', ')}`);
  if (!mintedOwner && page) lines.push(`In a browser: ${page}`);
  return `${lines.join('\n')}\n\n`;
}
