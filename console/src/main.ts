/** The console's entry: takes up the session, then shows the shell. */
import { html, render } from 'lit';
import './frame/shell.js';
import { confirmed } from './frame/confirm.js';
import { notify } from './frame/notice.js';
import { claimsOf, resume, signIn, who } from './session/session.js';
import { messageOf } from './storage/api.js';
import { shortName } from './storage/names.js';

async function start(): Promise<void> {
  const shell = document.createElement('quad-shell');
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
  await takeCredential();
  // A link may be opened in a tab that shows the console already.
  addEventListener('hashchange', () => void takeCredential());
  document.body.append(shell);
}

/** Signs in with the credential that the fragment holds, if it holds one. */
async function takeCredential(): Promise<void> {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  // Neither the address bar nor the history keeps a credential.
  history.replaceState(null, '', location.pathname);
  try {
    const session = who();
    const subject = String(claimsOf(given)['sub']);
    // Anybody can make a link that signs in as themselves, and would own what is uploaded then.
    const isOther = session.kind === 'subject' && session.subject !== subject;
    const title = isOther ? 'Sign in as somebody else?' : `Sign in as ${shortName(subject)}?`;
    const text = `${isOther ? `You are ${session.subject}. ` : ''}The link signs this browser in as ${subject}: what you upload is theirs. Go on if the link is yours.`;
    if (!(await confirmed({ title, text, proceed: 'Sign in' }))) return;
    await signIn(given);
  } catch (error) {
    location.hash = '#/signin';
    notify(messageOf(error), 'bad');
  }
}

await start();
