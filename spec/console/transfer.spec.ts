/** Console: import and export in a browser. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Member } from '../../lib/exchange/member.js';
import { entryKey } from '../../lib/storage/keys/records.js';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { documentOf, policy } from '../support/grants.js';
import { request } from '../support/http.js';
import { ed25519Identity } from '../support/identity.js';
import { archiveOf } from '../support/imports.js';

const path = '/some/path';
describeInBrowser('The console, import and export', () => {
  const console = new Console();
  let page: Page;
  before(async () => {
    await console.start({ path });
    page = await console.owner();
    await console.go(page, 'admin?tab=transfer');
  });
  after(() => console.stop());

  const file = (name: string, text: string) => ({
    name,
    mimeType: 'application/octet-stream',
    buffer: Buffer.from(text),
  });
  const get = (name: string) =>
    request(console.server.root + name, { headers: { Authorization: `Bearer ${console.server.ownerToken}` } });

  it('chooses the folder of an export in a list', async () => {
    await request(`${console.server.root}listed/`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...asContainer },
    });
    expect(await page.locator('[name=of]').isVisible(), 'until the list is open').to.equal(false);
    const [out, into] = await Promise.all([0, 1].map((at) => page.locator('form.card').nth(at).boundingBox()));
    expect(out!.width, 'side by side').to.equal(into!.width).and.to.be.above(400);
    expect(into!.y).to.equal(out!.y);
    await page.getByRole('button', { name: 'Folder: All of the storage', exact: true }).click();
    await page.getByRole('button', { name: 'listed', exact: true }).click();
    await page.getByRole('button', { name: 'Folder: /listed/', exact: true }).waitFor();
    expect(await page.locator('[name=of]').inputValue()).to.equal(`${console.server.root}listed/`);
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: '↑ Folder above' }).click();
    expect(await page.locator('[name=of]').inputValue()).to.equal(console.server.root);
    await page.getByRole('button', { name: 'Folder: All of the storage', exact: true }).click();
    await page.locator('folder-picker').waitFor({ state: 'detached' });
    const conflicts = page.getByLabel('If an item exists already').locator('option');
    expect(await conflicts.allInnerTexts()).to.deep.equal([
      'Stop and tell me',
      'Keep the existing item',
      'Replace the existing item',
    ]);
  });

  it('imports a file, and reports skipped data with the reason', async () => {
    const { root } = console.server;
    const triple = (graph: string): string => `<${root}s> <${root}p> "o" <${graph}> .\n`;
    const lines = triple(`${root}in/a`) + triple(`${root}in/b`) + triple('http://elsewhere.example/c');
    await page.getByLabel('File or ZIP').setInputFiles(file('dump.nq', lines));
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const row = page.getByRole('region', { name: 'Imports' }).getByRole('row', { name: 'dump.nq' });
    await row.getByText('Done').waitFor();
    await row.getByText('2 created').waitFor();
    await page.getByText('To import them, use').waitFor();
    expect((await get('in/b')).status).to.equal(200);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('lists agents that an archive would grant access to, and imports grants only if selected (rule 17.9)', async () => {
    const { root } = console.server;
    const grants = async (): Promise<unknown[]> =>
      JSON.parse((await get('.lws/access-grants')).text).items as unknown[];
    const recipient = ed25519Identity().did;
    const document = documentOf({ root } as never, 'AccessGrant', [policy(recipient, 'read', `${root}in/`)]);
    const value = JSON.stringify({ document: { id: 'x', ...document }, creator: recipient, created: 1 });
    const member: Member = { kind: 'state', source: '', key: entryKey('access-grants', 'gift'), value };
    const name = 'gift.zip';
    const row = page.getByRole('region', { name: 'Imports' }).getByRole('row', { name });
    const send = async (): Promise<void> => {
      const buffer = await archiveOf(`${root}in/`, [member]);
      await page.getByLabel('File or ZIP').setInputFiles({ name, mimeType: 'application/zip', buffer });
      await page.getByRole('button', { name: 'Import', exact: true }).click();
      await row.getByText('Done').waitFor();
    };
    await send();
    await page.getByText('--grants').waitFor();
    expect(await grants()).to.deep.equal([]);
    await row.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByText('More options').click();
    await page.getByLabel('Import grants').check();
    await send();
    await page.getByText('Agents named in its lists and grants').waitFor();
    await page.getByText(`${recipient}: AccessGrant of read.`).waitFor();
    expect(await grants()).to.have.length(1);
    expect(await axeFindings(page)).to.deep.equal([]);
  });

  it('reports why an import failed, and removes it from the list', async () => {
    await page.getByLabel('File or ZIP').setInputFiles(file('broken.nq', 'garbage'));
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const row = page.getByRole('region', { name: 'Imports' }).getByRole('row', { name: 'broken.nq' });
    await row.getByText('Failed').waitFor();
    await row.getByRole('button', { name: 'Report' }).click();
    await page.getByText('broken.nq:1:').waitFor();
    await row.getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
  });

  it('exports a container', async () => {
    await page.getByRole('combobox').first().selectOption('nquads');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal('path.nq');
    expect(readFileSync(await download.path(), 'utf8')).to.contain(`<${console.server.root}in/a> .\n`);
  });

  it('cancels a running export without saving a file', async () => {
    let saved = 0;
    page.on('download', () => saved++);
    await page.route('**/export?**', () => {});
    await page.getByRole('button', { name: 'Export', exact: true }).click();
    await page.getByRole('progressbar', { name: 'Exporting' }).waitFor();
    expect(await axeFindings(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.notice', { hasText: 'The export was stopped.' }).waitFor();
    expect(await page.locator('.notice.bad').count()).to.equal(0);
    await page.unroute('**/export?**');
    await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export', exact: true }).click(),
    ]);
    expect(saved).to.equal(1);
  });

  it('tells callers without control that they cannot import', async () => {
    const guest = await console.person();
    await guest.goto(console.at('signin'));
    await guest.getByRole('button', { name: 'Continue with this browser' }).click();
    await guest.locator('.who >> text=This browser').waitFor();
    await console.go(guest, 'admin?tab=transfer');
    await guest.getByText('You need control of this storage to import.').waitFor();
  });
});
