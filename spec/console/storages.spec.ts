/**
 * Storages page (rules 21.6, 21.7), from an invitation to the first upload, with sign-up at an identity provider and operator
 * actions, in a browser.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { readIdentity, signLinkCredential } from '../../lib/server/storage/owner-credential.js';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { type SpecDeployment, startDeployment } from '../support/deployments.js';
import { ed25519Identity } from '../support/identity.js';
import { remote } from '../support/remote.js';
import { SigningInProvider } from '../support/signing-in-provider.js';

const provider = new SigningInProvider();
const client = 'https://pods.example/client';
const openId = {
  ...remote.settings,
  'oidc.discovery-uri': remote.origin + provider.discoveryPath,
  'oidc.client-secret': provider.secret,
  'oidc.client-id': client,
  audience: client,
};

for (const by of ['host', 'path'] as const)
  describeInBrowser(`The console, storages of a deployment, by ${by}`, () => {
    const console = new Console();
    let deployment: SpecDeployment;
    let operator: Page;
    before(async () => {
      deployment = await startDeployment(by, {
        ...openId,
        ...(by === 'host' ? { 'storages.sign-up': provider.issuer } : {}),
      });
      const { home, stop } = deployment;
      await console.start({}, { root: home.root, ownerToken: home.token(), stop } as never);
      operator = await console.owner({ permissions: ['clipboard-read', 'clipboard-write'] });
    });
    after(() => console.stop());

    const rootOf = (name: string): string =>
      by === 'host' ? `http://${name}.localhost:${deployment.port}/` : `http://localhost:${deployment.port}/${name}/`;
    const notice = (page: Page, text: string | RegExp) => page.locator('.notice', { hasText: text }).waitFor();
    const row = (name: string) =>
      operator.locator('tbody tr', { has: operator.getByRole('link', { name, exact: true }) });
    const press = (page: Page, name: string): Promise<void> => page.getByRole('button', { name, exact: true }).click();

    /** Waits for the console of a storage, and confirms the sign-in if another identity is signed in there. */
    async function arrive(page: Page, name: string, isAnother = false): Promise<void> {
      await page.waitForURL(`${rootOf(name)}app**`);
      if (isAnother) await page.click('dialog[open] button >> text=Sign in');
      await notice(page, 'You are signed in as');
    }

    async function upload(page: Page): Promise<void> {
      await page
        .locator('main input[type=file]')
        .first()
        .setInputFiles({
          name: 'hello.ttl',
          mimeType: 'text/turtle',
          buffer: Buffer.from('<#it> <http://schema.org/text> "Hello" .'),
        });
      await page.getByRole('link', { name: 'hello.ttl' }).first().waitFor();
    }

    let link = '';
    it('creates and copies an invitation link', async () => {
      await console.go(operator, 'storages');
      await press(operator, 'Create a link');
      await press(operator, 'Copy the link');
      await notice(operator, 'Copied.');
      link = String(await operator.evaluate('navigator.clipboard.readText()'));
      expect(link.startsWith(`${console.server.root}app#/storages?invitation=`)).to.equal(true);
      expect(await axeFindings(operator)).to.deep.equal([]);
    });

    let gina: Page;
    it('creates a storage from an invitation link and accepts uploads', async () => {
      gina = await console.person();
      await gina.goto(link);
      await gina.getByText('You are invited to a storage of your own').waitFor();
      expect(await axeFindings(gina)).to.deep.equal([]);
      await gina.getByLabel(/^Name: lowercase/).fill('Gina M');
      await press(gina, 'Create my storage');
      await notice(gina, /name/i);
      await gina.getByLabel(/^Name: lowercase/).fill('gina');
      await press(gina, 'Create my storage');
      await arrive(gina, 'gina');
      await gina.locator('.who >> text=This browser').waitFor();
      await upload(gina);
    });

    it('opens a storage without a link, also from the storages page', async () => {
      await gina.goto(`${rootOf('gina')}app`);
      await gina.locator('.who >> text=This browser').waitFor();
      await gina.getByRole('link', { name: 'hello.ttl' }).first().waitFor();
      await gina.locator('nav >> text=Storages').click();
      await gina.waitForURL(`${console.server.root}app#/storages`);
      await gina.getByRole('button', { name: 'Open gina' }).click();
      await arrive(gina, 'gina', true);
      await gina.locator('.who >> text=This browser').waitFor();
    });

    it('reports a used link and an invalid one', async () => {
      const other = await console.person();
      for (const [address, message] of [
        [link, /was already used/],
        [`${console.server.root}app#/storages?invitation=x`, /not issued by this server/],
      ] as const) {
        await other.goto(address);
        await other.reload();
        await other.getByLabel(/^Name: lowercase/).fill('other');
        await press(other, 'Create my storage');
        await notice(other, message);
      }
    });

    it('creates, suspends, resumes, removes and restores a storage as an operator', async () => {
      await console.go(operator, 'browse');
      await console.go(operator, 'storages');
      await operator.getByLabel('Name', { exact: true }).fill('gina');
      await press(operator, 'Create');
      await notice(operator, /already/);
      await operator.getByLabel('Name', { exact: true }).fill('hans');
      await operator
        .getByLabel(/^Quota/)
        .first()
        .fill('0.5');
      await press(operator, 'Create');
      await row('hans').getByText('512 MiB').waitFor();
      await row('hans').getByText('not opened yet').waitFor();
      expect(await row('hans').getByText('(default)').count()).to.equal(0);
      await operator.getByRole('searchbox', { name: 'Name contains' }).fill('HAN');
      await press(operator, 'Search');
      await operator.getByText('1 in all').waitFor();
      await row('hans').waitFor();
      await operator.getByRole('searchbox', { name: 'Name contains' }).fill('nobody');
      await press(operator, 'Search');
      await operator.getByText('No storage has nobody in its name.').waitFor();
      await operator.getByRole('searchbox', { name: 'Name contains' }).fill('');
      await press(operator, 'Search');
      await row('hans').waitFor();
      await row('gina').getByText('no limit (default)').waitFor();
      await row('gina')
        .getByText(/^\d+ (?:B|KiB)$/)
        .waitFor();
      await press(operator, 'Suspend hans');
      await row('hans').getByText('suspended').waitFor();
      await press(operator, 'Resume hans');
      await row('hans').getByText('ready').waitFor();
      await press(operator, 'Remove hans');
      const remove = operator.locator('dialog[open] button.danger');
      expect(await remove.isDisabled()).to.equal(true);
      await operator.locator('dialog[open] input').fill('hans');
      await remove.click();
      await row('hans').getByText('deleted').waitFor();
      expect(JSON.parse(readFileSync(join(deployment.dataDir, 'storages/hans.json'), 'utf8'))).to.include({
        state: 'deleted',
      });
      await press(operator, 'Restore hans');
      await row('hans').getByText('ready').waitFor();
    });

    it('does not redirect a signed-in user to an address outside the deployment', async () => {
      for (const open of [
        'https://evil.example/',
        `${rootOf('a')}b/`,
        rootOf('a.evil'),
        rootOf('www'),
        `${rootOf('gina')}?`,
      ]) {
        await operator.goto(`${console.server.root}app#/storages?${new URLSearchParams({ open })}`);
        await operator.locator('tbody').waitFor();
        expect(await operator.locator('dialog[open]').count(), open).to.equal(0);
        expect(operator.url().startsWith(`${console.server.root}app`)).to.equal(true);
      }
    });

    it('signs in to any storage at the identity provider through the home', async () => {
      const page = await console.person({ ignoreHTTPSErrors: true });
      await page.goto(`${rootOf('gina')}app#/signin`);
      await page.click('text=Continue to');
      await page.waitForURL(`${console.server.root}app#/storages**`);
      await page.locator('main').getByRole('link', { name: 'Sign in' }).click();
      await page.click('text=Continue to');
      await provider.letIn(page);
      await page.click('dialog[open] button >> text=Continue');
      await arrive(page, 'gina');
      await page.locator(`.who >> text=${provider.subject.path.slice(1)}`).waitFor();
    });

    if (by === 'host')
      it('creates a storage after sign-in at the provider, and opens it in another browser', async () => {
        const page = await console.person({ ignoreHTTPSErrors: true });
        await page.goto(console.at('storages'));
        await page.locator('main').getByRole('link', { name: 'Sign in' }).click();
        await page.click('text=Continue to');
        await provider.letIn(page);
        await page.getByLabel(/^Name: lowercase/).fill('web');
        await press(page, 'Create my storage');
        await arrive(page, 'web');
        await upload(page);
        const other = await console.person({ ignoreHTTPSErrors: true });
        await other.goto(console.at('storages'));
        await other.locator('main').getByRole('link', { name: 'Sign in' }).click();
        await other.click('text=Continue to');
        await provider.letIn(other);
        await other.getByRole('button', { name: 'Open web' }).click();
        await arrive(other, 'web');
        await other.getByRole('link', { name: 'hello.ttl' }).first().waitFor();
      });

    it('says with what an owner signs in at a storage that their credential is not for', async () => {
      const { owner: bob } = await deployment.add('bobs');
      const page = await console.person();
      await page.goto(console.at('signin'));
      await page.click('summary >> text=I have a sign-in link or credential');
      await page.fill('textarea', deployment.home.token(bob));
      await page.click('form button');
      await page.locator(`.who span[title="${bob.did}"]`).waitFor();
      await console.go(page, 'storages');
      await page.getByRole('button', { name: 'Open bobs' }).click();
      await page.getByText('Sign in there with a credential for that storage').waitFor();
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.waitForURL(`${rootOf('bobs')}app**`);
    });

    it('shows suspended and unknown storages as a page without subresources', async () => {
      const nina = await deployment.add('nina');
      await deployment.change('nina', { state: 'suspended' });
      const page = await console.person();
      for (const [name, status, message] of [
        ['nina', 503, 'The storage is suspended. Contact its operator.'],
        ['nobody-of-that-name', 404, 'The storage does not exist.'],
      ] as const) {
        const answer = await page.goto(`${rootOf(name)}app`);
        expect(answer!.status()).to.equal(status);
        expect(answer!.headers()['content-security-policy']).to.match(/^default-src 'none'; /);
        expect(await page.locator('h1').innerText()).to.equal(message);
        expect(await page.locator('main').innerText()).not.to.match(/sign in|reload/);
        expect(await axeFindings(page)).to.deep.equal([]);
      }
      for (const Accept of ['application/json', '*/*', 'application/problem+json, text/html', 'text/html;q=0.5, */*']) {
        const { headers, text } = await nina.ask('GET', '', { Accept }, undefined, null);
        expect(headers['content-type'], Accept).to.equal('application/problem+json');
        expect(JSON.parse(text)).to.include({ status: 503 });
      }
    });

    it('causes no script error or CSP violation', () => {
      expect(console.complaints).to.deep.equal([]);
    });
  });

describeInBrowser('The console, storages of an operator with a generated key', () => {
  const console = new Console();
  let deployment: SpecDeployment;
  before(async () => {
    deployment = await startDeployment('host', { owners: '' });
    const { home, dataDir, stop } = deployment;
    const ownerToken = await signLinkCredential(readIdentity(join(dataDir, 'owner.key')), home.base, 600);
    await console.start({}, { root: home.root, ownerToken, stop } as never);
  });
  after(() => console.stop());

  it('signs the operator in at a storage with Open, and gives other callers no credential (rule 21.9)', async () => {
    const page = await console.owner();
    await console.go(page, 'storages');
    await page.getByLabel('Name', { exact: true }).fill('olga');
    await page.getByRole('button', { name: 'Create', exact: true }).click();
    const did = await page.locator('.who span').getAttribute('title');
    await page.getByRole('button', { name: 'Open olga' }).click();
    await page.waitForURL(`http://olga.localhost:${deployment.port}/app**`);
    await page.locator(`.who span[title="${did}"]`).waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Share' }).waitFor();
    const { home } = deployment;
    const bob = home.token(ed25519Identity());
    for (const [token, status] of [
      [null, 401],
      [bob, 403],
    ] as const)
      expect((await home.ask('POST', '.lws/storages/olga/sign-in', {}, undefined, token)).status).to.be.oneOf([
        status,
        404,
      ]);
    expect(console.complaints).to.deep.equal([]);
  });
});
