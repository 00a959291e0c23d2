/** The page that the identity provider sends people back to: signs in, and continues to the console. */
import { messageOf } from './api.js';
import { endOpenId } from './openid.js';
import { resume } from './session.js';

const answer = new URLSearchParams(location.search);
// A code is good once, and for nothing in the history.
history.replaceState(null, '', location.pathname);
const said = document.createElement('p');
said.className = 'lonely';
said.setAttribute('role', 'status');
said.textContent = 'Signing in …';
document.body.append(said);
try {
  await resume();
  await endOpenId(answer);
  location.replace(`${location.pathname.replace(/callback$/, 'app')}#/browse`);
} catch (error) {
  said.textContent = `${messageOf(error)} `;
  const back = document.createElement('a');
  back.href = `${location.pathname.replace(/callback$/, 'app')}#/signin`;
  back.textContent = 'Back to signing in';
  said.append(back);
}
