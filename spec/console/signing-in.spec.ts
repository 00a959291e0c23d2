/** Console: sign-in in a browser (rules 1.3, 5.1, 5.5). */
import { expect } from 'chai';
import { readIdentity, signCredential, signLinkCredential } from '../../lib/server/storage/owner-credential.js';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { credential, ed25519Identity } from '../support/identity.js';
import { pathsOf } from '../support/places.js';

for (const path of pathsOf('The console, signing-in'))
  describeInBrowser(`The console, signing-in, at ${path || '/'}`, () => {
    const console = new Console();
    before(() => console.start({ path }));
    after(() => console.stop());

    it('removes the credential from the URL and shows the root', async () => {
      const page = await console.owner();
      expect(page.url()).to.equal(`${console.server.root}app`);
      await page.locator('.who >> text=Owner').waitFor();
      await page.reload();
      await page.locator('.who [title^="did:key"]').waitFor();
      expect(await page.locator('main h1').textContent()).to.equal('All files');
    });

    it('shows anonymous callers nothing but a link to sign in', async () => {
      const page = await console.person();
      await page.goto(`${console.server.root}app`);
      await page.locator('main .refused').waitFor();
      expect(await page.getByRole('alert').count()).to.equal(0);
      await page.click('main >> text="Sign in"');
      await page.locator('h1 >> text=Sign in').waitFor();
    });

    it('signs in with a pasted credential, and reports an invalid one', async () => {
      const page = await console.person();
      await page.goto(console.at('signin'));
      await page.click('summary >> text=I have a sign-in link or credential');
      await page.fill('textarea', 'nonsense');
      await page.click('form button');
      await page.locator('.notice >> text=three parts').waitFor();
      await page.fill('textarea', `${console.server.ownerToken!.slice(0, -6)}AAAAAA`);
      await page.click('form button');
      await page.locator('.notice.bad >> text=three parts').waitFor({ state: 'detached' });
      expect(await page.locator('.notice.bad').count()).to.equal(1);
      await page.fill('textarea', console.server.ownerToken!);
      await page.click('form button');
      await page.locator('.who [title^="did:key"]').waitFor();
    });

    it('makes a browser an owner that signs in again automatically', async () => {
      const page = await console.owner();
      await console.go(page, 'owners');
      await page.getByLabel('Name of the browser').fill('This laptop');
      await page.click('text=Remember this browser');
      await page.locator('td >> text=This laptop').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await console.go(page, 'signin');
      await page.locator('main').getByText('You own this storage and can do everything in it.').waitFor();
      await page.locator('h1 >> text=Your identity').waitFor();
      expect(await page.locator('main .primary').allInnerTexts()).to.deep.equal(['Go to the files']);
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.click('summary >> text=Use another identity');
      await page.click('button >> text=Sign in as this browser');
      const dialog = page.locator('dialog[open]');
      await dialog.locator('text=Leave “Owner”?').waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.locator('.who >> text=Owner').waitFor();
      await page.click('button >> text=Sign in as this browser');
      await dialog.getByRole('button', { name: 'Sign in as this browser' }).click();
      await page.locator('.who >> text=This browser').waitFor();
      await page.locator('button >> text=New').waitFor();
      await page.reload();
      await page.locator('.who >> text=This browser').waitFor();
      expect(await page.locator('main :is(.refused, [role=alert])').count()).to.equal(0);
    });

    it('keeps the identity of the browser after the credential of a link expired', async () => {
      const page = await console.person();
      const identity = readIdentity(console.server.server.mintedOwner!);
      const short = await signCredential(identity, console.server.root.slice(0, -1), 5);
      await page.goto(`${console.server.root}app#token=${short}`);
      await page.locator('.who [title^="did:key"]').waitFor();
      await console.go(page, 'owners');
      await page.getByLabel('Name of the browser').fill('Another laptop');
      await page.click('text=Remember this browser');
      await page.locator('td >> text=Another laptop').waitFor();
      const over = Number(JSON.parse(Buffer.from(short.split('.')[1]!, 'base64url').toString()).exp) * 1000;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, over - Date.now() + 100)));
      await page.reload();
      await page.locator('.who >> text=Not signed in').waitFor();
      await page.goto(console.at('signin'));
      await page.click('button >> text=Sign in as this browser');
      await page.locator('.who >> text=This browser').waitFor();
    });

    it('accepts a link in an open tab, asks before it replaces another identity, and leaves a cancelled link valid (rule 5.5)', async () => {
      const page = await console.person();
      await page.goto(console.at('signin'));
      await page.locator('h1 >> text=Sign in').waitFor();
      await page.goto(console.ownerLink);
      await page.locator('.who [title^="did:key"]').waitFor();
      expect(page.url()).not.to.contain('token');
      const shown = page.locator('.who span');
      const before = await shown.getAttribute('title');
      const other = ed25519Identity();
      const link = `${console.server.root}app#token=${credential(other, { aud: console.server.root.slice(0, -1) })}`;
      await page.goto(link);
      const dialog = page.locator('dialog[open]');
      await dialog.waitFor();
      expect(await dialog.locator('p').innerText()).to.equal(
        `This link signs you in as ${other.did} instead of ${before}. Anything you upload will belong to that identity. Continue only if the link is yours.`,
      );
      expect(page.url()).not.to.contain('token');
      expect(await axeFindings(page)).to.deep.equal([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await page.locator('.notice >> text=open it again').waitFor();
      expect(await shown.getAttribute('title')).to.equal(before);
      await page.goto(link);
      await dialog.waitFor();
      await page.keyboard.press('Enter');
      await page.locator(`.who span[title="${other.did}"]`).waitFor();
      // The same identity needs no confirmation.
      await page.goto(link);
      await page.locator('.notice >> text=You are signed in as').first().waitFor();
      expect(await dialog.count()).to.equal(0);
    });

    it('signs in without confirmation if no user is signed in, and shows the identity (rule 5.5)', async () => {
      const page = await console.person();
      await page.goto(console.ownerLink);
      await page.locator('.notice >> text=You are signed in as Owner.').waitFor();
      await page.locator('.who [title^="did:key"]').waitFor();
      expect(await page.locator('dialog[open]').count()).to.equal(0);
      expect(page.url()).not.to.contain('token');
    });

    it('accepts a link in one browser only, bound to its DPoP key (rule 5.5)', async () => {
      const base = console.server.root.slice(0, -1);
      const link = await signLinkCredential(readIdentity(console.server.server.mintedOwner!), base, 600);
      const page = await console.person();
      await page.goto(`${console.server.root}app#token=${link}`);
      await page.locator('.who [title^="did:key"]').waitFor();
      await page.reload();
      await page.locator('.who [title^="did:key"]').waitFor();
      await page.locator('button >> text=New').waitFor();
      const bearer = await fetch(console.server.root, { headers: { Authorization: `Bearer ${link}` } });
      expect(bearer.status).to.equal(401);
      const exchanged = await fetch(`${console.server.root}.lws/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
          resource: console.server.root,
          subject_token: link,
          subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
        }),
      });
      expect(exchanged.status).to.equal(400);
      expect(((await exchanged.json()) as { error: string }).error).to.equal('invalid_dpop_proof');
      const other = await console.person();
      await other.goto(`${console.server.root}app#token=${link}`);
      await other.locator('.notice.bad >> text=used in another browser').waitFor();
      expect(await other.locator('.notice.bad').textContent()).to.contain('owner --key');
      await other.locator('.who >> text=Not signed in').waitFor();
    });

    it('signs out in all tabs, and sends no credential afterwards', async () => {
      const page = await console.owner();
      const other = await page.context().newPage();
      await other.goto(`${console.server.root}app`);
      await other.locator('.who [title^="did:key"]').waitFor();
      await other.locator('button >> text=New').waitFor();
      const credentials: (string | undefined)[] = [];
      await page.click('text=Sign out');
      await other.locator('.who >> text=Not signed in').waitFor();
      other.on('request', (request) => credentials.push(request.headers()['authorization']));
      await console.go(other, 'search');
      await console.go(other, 'browse');
      await other.locator('main .refused').waitFor();
      expect(credentials.length).to.be.above(0);
      expect(credentials.filter((each) => each !== undefined)).to.deep.equal([]);
    });

    it('deletes all session data on sign-out', async () => {
      const page = await console.owner();
      await page.click('text=Sign out');
      await page.locator('h1 >> text=Sign in').waitFor();
      const left = await page.evaluate(`new Promise((resolve) => {
        const opening = indexedDB.open('quadpod-console');
        opening.onsuccess = () => {
          const counting = opening.result.transaction('session').objectStore('session').count();
          counting.onsuccess = () => resolve(counting.result);
        };
      })`);
      expect(left).to.equal(0);
      await page.reload();
      await page.locator('.who >> text=Not signed in').waitFor();
    });

    it('keeps the identity of the browser on sign-out, and deletes it only when asked', async () => {
      const page = await console.person();
      await page.goto(console.at('signin'));
      const [forget, iri] = [page.getByRole('button', { name: 'Forget this browser' }), page.locator('.card .iri')];
      await page.locator('button >> text=Continue with this browser').waitFor();
      expect(await forget.count()).to.equal(0);
      await page.click('button >> text=Continue with this browser');
      await page.locator('.who >> text=This browser').waitFor();
      await page.click('text=Sign out');
      await page.locator('.who >> text=Not signed in').waitFor();
      const identity = await iri.textContent();
      await forget.click();
      await page.click('dialog >> text=Cancel');
      await page.locator('.who >> text=Not signed in').waitFor();
      expect(await iri.textContent()).to.equal(identity);
      await forget.click();
      await page.click('dialog button.danger');
      await page.locator('.notice >> text=is deleted').waitFor();
      await page.click('button >> text=Continue with this browser');
      await page.locator('.who >> text=This browser').waitFor();
      expect(await page.locator('.who span').getAttribute('title')).not.to.equal(identity);
    });

    it('deletes the key of an owner only after a second confirmation', async () => {
      const page = await console.owner();
      await console.go(page, 'owners');
      await page.getByLabel('Name of the browser').fill('A second laptop');
      await page.click('text=Remember this browser');
      await page.locator('td >> text=A second laptop').waitFor();
      await console.go(page, 'signin');
      const forget = page.getByRole('button', { name: 'Forget this browser' });
      await page.click('summary >> text=Use another identity');
      await page.locator('button >> text=Sign in as this browser').waitFor();
      // Signed in as another owner.
      expect(await forget.count()).to.equal(0);
      await page.click('text=Sign out');
      await page.locator('.who >> text=Not signed in').waitFor();
      await forget.click();
      await page.click('dialog button.danger');
      const second = page.locator('dialog', { hasText: 'Delete the key of an owner' });
      await second.waitFor();
      expect(await second.locator('button.danger').isDisabled()).to.equal(true);
      expect(await axeFindings(page)).to.deep.equal([]);
      await second.locator('input').fill('owner');
      await second.locator('button.danger').click();
      await page.locator('.notice >> text=is deleted').waitFor();
      await page.locator('button >> text=Continue with this browser').waitFor();
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });

describeInBrowser('The console, the first steps at /', () => {
  const console = new Console();
  before(() => console.start({ path: '' }));
  after(() => console.stop());

  it('signs in, lists the root, follows a link to a container, and shows it again after a reload', async () => {
    const made = await fetch(`${console.server.root}data/`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${console.server.ownerToken}`, 'If-None-Match': '*' },
    });
    expect(made.status).to.equal(201);
    const page = await console.owner();
    expect(page.url()).to.equal(`${console.server.root}app`);
    await page.getByRole('link', { name: 'data', exact: true }).click();
    const heading = page.getByRole('heading', { level: 1, name: 'data', exact: true });
    await heading.waitFor();
    await page.reload();
    await heading.waitFor();
    await page.locator('.who [title^="did:key"]').waitFor();
    expect(console.complaints).to.deep.equal([]);
    expect([...console.elsewhere]).to.deep.equal([]);
  });
});
