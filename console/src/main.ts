/** The console's entry: takes up the session, then shows the shell. */
import { html, render } from 'lit';
import './shell.js';
import { confirmed } from './frame/confirm.js';
import { notify } from './frame/notice.js';
import { claimsOf, identityOfBrowser, resume, signIn, signInAsBrowser, subjectNow } from './session/session.js';
import { jsonBody, messageOf, request, systemUrl } from './storage/api.js';
import { shortName } from './storage/names.js';

async function start(): Promise<void> {
  if (!globalThis.crypto?.subtle) {
    const said =
      'Signing in needs a secure page: browsers have no cryptography for plain http but on localhost. Reach the storage over https.';
    render(html`<p class="lonely">${said}</p>`, document.body);
    return;
  }
  try {
    await resume();
  } catch (error) {
    notify(messageOf(error), 'bad');
  }
  // Its navigation depends on the session. Its listener of hashchange closes dialogs, and comes before the one that opens one.
  const shell = document.createElement('quad-shell');
  await takeCredential();
  // A link may be opened in a tab that shows the console already.
  addEventListener('hashchange', () => void takeCredential());
  document.body.append(shell);
}

/** Signs in with the credential that the fragment holds, if it holds one. */
async function takeCredential(): Promise<void> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const given = fragment.get('token');
  if (given === null) return;
  // Neither the address bar nor the history keeps a credential.
  history.replaceState(null, '', location.pathname);
  try {
    const subject = String(claimsOf(given)['sub']);
    const before = subjectNow();
    // Anybody can make a link that signs in as themselves, and would own what is uploaded then. Without a session there is none to lose.
    if (before !== '' && before !== subject) {
      const text = `This link signs you in as ${subject} instead of ${before}, and what you upload is theirs.`;
      const question = { title: `Sign in as ${shortName(subject)}?`, text, proceed: 'Sign in', isUsual: true };
      if (!(await confirmed(question))) return notify('You are signed in as before. To use the link, open it again.');
    }
    await signIn(given);
    if (fragment.has('join')) await join();
    notify(`You are signed in as ${shortName(subjectNow())}.`);
  } catch (error) {
    location.hash = '#/signin';
    notify(messageOf(error), 'bad');
  }
}

/**
 * Makes the identity of this browser an owner, so that it needs no link again: whoever has a new storage comes with a credential that is made at another
 * origin, whose key stays there.
 */
async function join(): Promise<void> {
  const owner = { id: await identityOfBrowser(), name: 'A browser' };
  const { ok, status } = await request('POST', await systemUrl('owners'), jsonBody(owner));
  if (ok) await signInAsBrowser();
  // Where access control lists say who may what, and where somebody is no owner, the credential has to do.
  else if (status !== 404 && status !== 403) throw new Error(`This browser could not become an owner (${status}).`);
}

await start();
