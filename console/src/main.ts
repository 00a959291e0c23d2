/** Entry of the console: restores the session and shows the shell. */
import { html, render } from 'lit';
import './shell.js';
import { confirmed } from './frame/confirm.js';
import { notify } from './frame/notice.js';
import { claimsOf, identityOfBrowser, resume, signIn, signInAsBrowser, subjectNow } from './session/session.js';
import { jsonBody, messageOf, request, systemUrl } from './storage/api.js';
import { identityName, isController } from './storage/controller.js';
import { shortName } from './storage/names.js';

async function start(): Promise<void> {
  if (!globalThis.crypto?.subtle) {
    const said =
      'Signing in requires a secure page: over plain http, browsers offer cryptography on localhost only. Open the storage over https.';
    render(html`<p class="lonely">${said}</p>`, document.body);
    return;
  }
  try {
    await resume();
  } catch (error) {
    notify(messageOf(error), 'bad');
  }
  // The shell is shown after sign-in, since the navigation depends on the session. It is created before, because its hashchange
  // listener closes dialogs and must not close one that the listener below opens.
  const shell = document.createElement('quad-shell');
  await takeCredential();
  // The user may open a link in a tab that already shows the console.
  addEventListener('hashchange', () => void takeCredential());
  document.body.append(shell);
}

/** Signs in with the credential in the fragment, if there is one. */
async function takeCredential(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('token');
  if (given === null) return;
  // Removes the credential from the address bar and the history.
  history.replaceState(null, '', location.pathname);
  try {
    const subject = String(claimsOf(given)['sub']);
    const before = subjectNow();
    // An attacker's link signs in as the attacker, who would own later uploads. Without a session, nothing can be lost.
    if (before !== '' && before !== subject) {
      const text = `This link signs you in as ${subject} instead of ${before}. Anything you upload will belong to that identity. Continue only if the link is yours.`;
      const question = { title: `Sign in as ${shortName(subject)}?`, text, proceed: 'Sign in', isUsual: true };
      if (!(await confirmed(question)))
        return notify('You are still signed in as before. To use the link, open it again.');
    }
    await signIn(given);
    if (fragment.has('join')) await join();
    // The header shows owners under another name, so the role is read first.
    await isController().catch(() => false);
    notify(`You are signed in as ${identityName(subjectNow())}.`);
  } catch (error) {
    location.hash = '#/signin';
    notify(messageOf(error), 'bad');
  }
}

/**
 * Makes the identity of this browser an owner, so that the user needs no link next time. The owner of a new storage arrives
 * with a credential of another origin, which cannot be renewed here.
 */
async function join(): Promise<void> {
  const owner = { id: await identityOfBrowser(), name: 'A browser' };
  const { ok, status } = await request('POST', await systemUrl('owners'), jsonBody(owner));
  if (ok) await signInAsBrowser();
  // With access control lists, or for callers that are not owners, the request fails and the credential stays in use.
  else if (status !== 404 && status !== 403) throw new Error(`This browser could not be made an owner (${status}).`);
}

await start();
