/** The console's entry: takes up the session, then shows the shell. */
import './shell.js';
import { messageOf } from './api.js';
import { notify } from './notice.js';
import { resume, signIn } from './session.js';

async function start(): Promise<void> {
  const shell = document.createElement('quad-shell');
  if (!globalThis.crypto?.subtle) {
    const said = document.createElement('p');
    said.className = 'lonely';
    said.textContent =
      'Signing in needs a secure page: browsers have no cryptography for plain http but on localhost. Reach the storage over https.';
    document.body.append(said);
    return;
  }
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  // Neither the address bar nor the history keeps a credential.
  if (given !== null) history.replaceState(null, '', location.pathname);
  try {
    await resume();
    if (given !== null) await signIn(given);
  } catch (error) {
    notify(messageOf(error), 'bad');
    if (given !== null) location.hash = '#/signin';
  }
  document.body.append(shell);
}

await start();
