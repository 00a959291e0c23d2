/** Redirect page of OpenID Connect: signs in and continues to the console. */
import { html, render } from 'lit';
import { placeAfter } from './frame/page.js';
import { resume } from './session/session.js';
import { endOpenId } from './sign-in/openid.js';
import { messageOf } from './storage/api.js';

const answer = new URLSearchParams(location.search);
// The authorization code works only once, so that it is removed from the address.
history.replaceState(null, '', location.pathname);
const show = (said: unknown): unknown => render(html`<p class="lonely" role="status">${said}</p>`, document.body);
const app = location.pathname.replace(/callback$/, 'app');
show('Signing in …');
try {
  await resume();
  location.replace(app + placeAfter(await endOpenId(answer)));
} catch (error) {
  show(html`${messageOf(error)} <a href=${`${app}#/signin`}>Back to signing in</a>`);
}
