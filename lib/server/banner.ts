/** Creates the text that the server prints when it starts to listen: its URL and the next steps. */

import { type Settings, setByProfile } from '../settings/settings.js';
import { asTyped } from '../tools/threads/package-root.js';
import type { Server } from './server.js';
import { coreSettings } from './settings/core-settings.js';
import { signInLink } from './sign-in-link.js';
import { readIdentity, signCredential, signLinkCredential } from './storage/owner-credential.js';

const validSeconds = 3600;

/** Returns the lines for the terminal. With a generated owner, the lines include a credential and commands to paste. */
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
            'Open it in a browser, signed in as its owner for an hour. The link works in one browser only:',
            `  ${signInLink(page, await signLinkCredential(identity, baseUri, validSeconds))}`,
            '',
          ]
        : []),
      `Only the owner can access the storage: ${identity.did}`,
      `(key in ${mintedOwner}). The credential below is valid for an hour. For another one, and another link: ${asTyped()} owner --key ${mintedOwner}${place}`,
      '',
      `export TOKEN=${credential}`,
      '',
      'Paste that line into another terminal, then try:',
      `  curl -H "Authorization: Bearer $TOKEN" -X PUT ${baseUri}/notes/`,
      `  curl -H "Authorization: Bearer $TOKEN" -X PUT -H 'Content-Type: text/turtle' --data '<#it> a <http://schema.org/Note> ; <http://schema.org/text> "Hello" .' ${baseUri}/notes/hello`,
      `  curl -H "Authorization: Bearer $TOKEN" -H 'Accept: application/ld+json' ${baseUri}/notes/hello`,
    );
  } else if (core.devOpen && core.owners.length === 0)
    lines.push('', 'OPEN MODE: everyone who can reach this address can read, change and delete everything.');
  else lines.push(`Owners: ${core.owners.join(', ')}`);
  const set = setByProfile(settings);
  if (set.length > 0) lines.push(`The profile ${core.profile} sets ${set.join(', ')}`);
  if (!mintedOwner && page) lines.push(`In a browser: ${page}`);
  return `${lines.join('\n')}\n\n`;
}
