/** Console: administration of the storage in a browser. */
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { asTyped } from '../../lib/tools/threads/package-root.js';
import { axeFindings, axeFindingsInBothModes, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { silent, startInboxHost } from '../support/inbox.js';
import { pathsOf } from '../support/places.js';
import { until } from '../support/until.js';

const host = await startInboxHost();
after(() => host.close());
const secret = 'never to be shown';
const settings = {
  'webhook.allowed-hosts': host.authority,
  'oidc.client-secret': secret,
  'notifications.include-actor': 'true',
};

for (const path of pathsOf('The console, administration'))
  describeInBrowser(`The console, administration, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    let guest: Page;
    before(async () => {
      await console.start({ path, settings });
      await send('PUT', 'data/', asContainer);
      page = await console.owner();
      guest = await console.person({ colorScheme: 'dark' });
      await guest.goto(console.at('signin'));
      await guest.getByRole('button', { name: 'Continue with this browser' }).click();
      await guest.locator('.who >> text=This browser').waitFor();
    });
    after(() => console.stop());

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });
    const put = (name: string) => send('PUT', name, { 'Content-Type': 'text/plain' }, 'x');
    const list = (): Locator => page.getByRole('region', { name: 'Webhooks' });
    const tab = (name: string, of = page): Promise<void> => of.getByRole('tab', { name }).click();
    const focused = (): Promise<string> =>
      page.evaluate('document.activeElement === document.body ? "" : document.activeElement.textContent.trim()');

    /** Waits for a notice, then closes all notices. */
    async function dismiss(text: string | RegExp): Promise<void> {
      await page.locator('.notice', { hasText: text }).waitFor();
      await page.evaluate("for (const button of document.querySelectorAll('.notice button')) button.click()");
    }

    async function subscribe(topic: string, inbox: string): Promise<void> {
      const watch = page.getByRole('button', { name: /^Watch: / });
      if ((await watch.getAttribute('aria-expanded')) === 'false') await watch.click();
      await page.getByLabel('Address').fill(topic);
      await page.getByLabel('Send to').fill(inbox);
      await page.getByRole('button', { name: 'Add webhook' }).click();
    }

    it('subscribes an inbox, delivers notifications and shows the state of delivery', async () => {
      const inbox = host.inbox();
      await console.go(page, 'admin');
      await page.locator('[role=tab][aria-selected=true]:first-child', { hasText: 'Status' }).waitFor();
      await tab('Webhooks');
      await page.getByText('No webhooks').waitFor();
      await subscribe(`${console.server.root}data/`, inbox);
      await dismiss('The webhook is added.');
      await list().getByText(inbox).waitFor();
      await list().getByText('nothing was delivered yet').waitFor();
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      await put('data/told');
      await host.receivedAbout(inbox, `${console.server.root}data/told`);
      await until(async () => {
        await page.getByRole('button', { name: 'Refresh' }).click();
        return (await list().getByText('last delivery').count()) === 1;
      }, 'the delivery is shown');
    });

    it('deletes a subscription only after confirmation', async () => {
      const inbox = host.inbox(silent);
      await subscribe(console.server.root, inbox);
      await dismiss('The webhook is added.');
      const row = list().getByRole('row', { name: inbox });
      await row.getByRole('button', { name: 'Delete' }).click();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      expect(await list().getByRole('row').count()).to.equal(3);
      await row.getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await row.waitFor({ state: 'detached' });
      await list().getByRole('button', { name: 'Delete' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
      await page.getByText('No webhooks').waitFor();
      expect(await focused()).to.equal('Webhooks');
      await page.locator('.notice').last().waitFor();
      await page.reload();
      await page.getByText('No webhooks').waitFor();
    });

    it('reports why a subscription is rejected, and keeps the input', async () => {
      await subscribe(console.server.root, 'http://127.0.0.1:9/inbox');
      await page.locator('.notice.bad').waitFor();
      await dismiss(/./);
      await page.getByLabel('Ends').fill('2001-01-01T12:00');
      await subscribe('https://elsewhere.example/', host.inbox());
      await page.locator('.notice.bad').waitFor();
      await dismiss(/./);
      expect(await page.getByLabel('Address').inputValue()).to.equal('https://elsewhere.example/');
      await page.getByText('No webhooks').waitFor();
    });

    it('shows the changes of the last day, then live ones, and buffers them while paused', async () => {
      await page.getByRole('tab', { name: 'Webhooks' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.getByText('New changes appear by themselves.').waitFor();
      const happened = page.getByRole('region', { name: 'What happened' });
      const link = (name: string): Locator =>
        happened.getByRole('link', { name: `/data/${name}`, exact: true }).first();
      // Created before the page was opened.
      await happened.getByRole('link', { name: '/data/', exact: true }).first().waitFor();
      // Each event of the first response is shown once, below the heading of its day.
      const created = happened.getByRole('row').filter({ hasText: 'Create' });
      expect(await created.filter({ has: page.getByRole('link', { name: '/data/', exact: true }) }).count()).to.equal(
        1,
      );
      await happened.getByRole('rowheader').first().waitFor();
      await put('data/first');
      await link('first').waitFor();
      expect(await happened.textContent())
        .to.contain('Create')
        .and.to.contain('(you)')
        .and.not.to.match(/did:key:\w{30}/);
      await page.getByRole('button', { name: 'Pause' }).click();
      await put('data/second');
      await page.getByText(/Paused\. [1-9]\d* more/).waitFor();
      expect(await link('second').count()).to.equal(0);
      await page.getByRole('button', { name: 'Continue' }).click();
      await link('second').waitFor();
      // Events of one kind are together, below the newest one.
      await happened.getByText(/^and \d+ more items$/).click();
      await link('first').waitFor();
      await happened.getByRole('link', { name: `Check access to ${console.server.root}data/first` }).click();
      await page.getByRole('button', { name: 'Check access' }).click();
      await page
        .locator('admin-explain [role=status]')
        .getByText(/^Yes: .*\(you\) may read \/data\/first$/)
        .waitFor();
      expect(await page.getByLabel('Address').inputValue()).to.equal(`${console.server.root}data/first`);
    });

    it('shows the newest 500 of many changes (rule 16.11)', async () => {
      for (let from = 0; from < 600; from += 20)
        await Promise.all(Array.from({ length: 20 }, (_, at) => put(`data/many-${from + at}`)));
      await put('data/last');
      await tab('Activity');
      await page.getByText('New changes appear by themselves.').waitFor();
      const happened = page.getByRole('region', { name: 'What happened' });
      await happened.getByRole('link', { name: '/data/last', exact: true }).waitFor();
      await happened
        .getByText(/^Created[\s\S]*and \d+ more items/)
        .first()
        .waitFor();
      expect(await happened.locator('tbody tr:not(.day) .check').count()).to.equal(500);
    });

    it('explains why a caller has or lacks permission', async () => {
      await tab('Check access');
      const answer = page.locator('admin-explain [role=status]');
      await page.getByLabel('Who').selectOption('Anyone');
      expect(await page.getByLabel('Can').locator('option').first().innerText()).to.equal('read');
      await page.getByRole('button', { name: 'Folder or item: ' }).click();
      await page.getByLabel('Address').fill(`${console.server.root}data/`);
      await page.getByRole('button', { name: 'Check access' }).click();
      await answer.getByText('No: somebody who is not signed in may not read /data/').waitFor();
      await answer.getByText('Only people who are signed in can be given access').waitFor();
      expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
      const me = (await page.locator('.who span').getAttribute('title'))!;
      await page.getByLabel('Who').selectOption('A person');
      await page.getByRole('combobox', { name: 'Person', exact: true }).fill(me);
      await page.getByLabel('Can').selectOption('delete');
      await page.getByLabel('Address').fill(`${console.server.root}data/none`);
      await page.getByRole('button', { name: 'Check access' }).click();
      await answer.getByText(/^Yes: .*\(you\) may delete \/data\/none$/).waitFor();
      expect(await answer.textContent()).to.match(/This person owns the storage[\s\S]*which does not exist/);
      await page.getByRole('combobox', { name: 'Person', exact: true }).fill('Nemo');
      await page.getByRole('button', { name: 'Check access' }).click();
      await dismiss('Nemo is neither a known name nor an IRI');
    });

    it('shows usage and settings, but no secrets', async () => {
      await tab('Status');
      await page.getByText(`No backup yet. Nothing protects this data. Run ${asTyped()} backup DIR`).waitFor();
      expect(await page.getByText('Runs for').isVisible()).to.equal(false);
      await page.locator('summary', { hasText: 'More figures' }).click();
      await page.getByText('Runs for').waitFor();
      await page.getByText('0 running, 0 waiting').waitFor();
      expect(await page.locator('dt:text-is("Items") + dd').textContent()).to.match(/^\d+$/);
      expect(await page.locator('dt:text-is("Triples") + dd').textContent()).to.match(/^\d+, including /);
      const tops = await Promise.all(
        ['Used', 'Items', 'Free on the disk'].map(
          async (name) => (await page.getByText(name, { exact: true }).boundingBox())!.y,
        ),
      );
      expect(new Set(tops).size, 'figures beside each other').to.equal(1);
      await page.locator('summary', { hasText: /^Settings in use \(\d+\)$/ }).click();
      const shown = page.getByRole('region', { name: 'Settings' });
      const row = (name: string): Locator => shown.getByRole('row').filter({ hasText: name });
      await row('lws.oidc.client-secret').getByText('kept secret').waitFor();
      await row('lws.webhook.allowed-hosts').getByText(host.authority).waitFor();
      expect(await row('lws.quota.max-bytes').count()).to.equal(0);
      await page.getByLabel('Also those of the settings file').check();
      await row('lws.quota.max-bytes').waitFor();
      expect(await page.content()).not.to.contain(secret);
    });

    it('shows callers without control only the tabs that work for them', async () => {
      await console.go(guest, 'admin?tab=activity');
      await guest.getByRole('tab', { name: 'Import and export', selected: true }).waitFor();
      expect(await guest.locator('.top nav [aria-current]').innerText()).to.equal('Storage');
      expect(await guest.getByRole('tab').allTextContents()).to.deep.equal(['Webhooks', 'Import and export']);
      expect(await axeFindings(guest)).to.deep.equal([]);
      const anonymous = await console.person();
      await anonymous.goto(console.at('admin'));
      await anonymous.getByText('This page requires sign-in.').waitFor();
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
