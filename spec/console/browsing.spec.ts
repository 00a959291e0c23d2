/** Console: containers and their members in a browser. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { request } from '../support/http.js';
import { pathsOf } from '../support/places.js';

for (const path of pathsOf('The console, browsing'))
  describeInBrowser(`The console, browsing, at ${path || '/'}`, () => {
    const console = new Console();
    let page: Page;
    const folder = mkdtempSync(join(tmpdir(), 'quadpod-upload-'));
    before(async () => {
      await console.start({ path });
      page = await console.owner();
    });
    after(async () => {
      await console.stop();
      rmSync(folder, { recursive: true });
    });

    const send = (method: string, name: string, fields: Record<string, string> = {}, body?: string) =>
      request(console.server.root + name, {
        method,
        headers: { Authorization: `Bearer ${console.server.ownerToken}`, ...fields },
        ...(body === undefined ? {} : { body }),
      });
    const at = (name: string): string => `browse?at=${encodeURIComponent(console.server.root + name)}`;

    it('decodes a name once', async () => {
      const { status } = await send('PUT', '%2541', { 'Content-Type': 'text/plain', 'If-None-Match': '*' }, 'x');
      expect(status).to.equal(201);
      await console.go(page, 'browse');
      await page.getByRole('link', { name: '%41', exact: true }).waitFor();
      expect((await send('DELETE', '%2541')).status).to.equal(204);
      await console.go(page, 'search');
      await console.go(page, 'browse');
    });

    it('creates a container and a document, and reports existing and invalid names in the dialog', async () => {
      await page.click('text=New …');
      await page.fill('dialog [name=name]', 'Größen & mehr');
      await page.click('text="Create"');
      await page.locator('h1 >> text=Größen & mehr').waitFor();
      await page.locator('.empty').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.click('text=New …');
      await page.selectOption('select', 'json');
      await page.fill('dialog [name=name]', 'sizes');
      await page.click('text="Create"');
      await page.waitForURL(/sizes\.json/);
      await console.go(page, at(`${encodeURIComponent('Größen & mehr')}/`));
      await page.locator('td >> text=sizes.json').waitFor();
      await page.click('text=New …');
      await page.fill('dialog [name=name]', 'sizes.json');
      await page.selectOption('select', 'json');
      await page.click('text="Create"');
      await page.locator('dialog[open] .notice.bad', { hasText: '“sizes.json” already exists.' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.click('dialog[open] .notice.bad button');
      await page.selectOption('select', 'container');
      for (const [name, message] of [
        ['a/b', 'Names cannot contain a slash'],
        ['..', '“..” is not a valid name'],
        ['.', '“.” is not a valid name'],
      ] as const) {
        await page.fill('dialog [name=name]', name);
        await page.click('text="Create"');
        await page.locator('dialog[open] .notice.bad', { hasText: message }).waitFor();
      }
      await page.keyboard.press('Escape');
      await page.locator('dialog[open]').waitFor({ state: 'detached' });
      await page.locator('.notice.bad').first().waitFor({ state: 'detached' });
      expect(await page.locator('tbody a').allInnerTexts()).to.deep.equal(['sizes.json']);
    });

    it('closes a dialog on Back, and removes error messages with their page', async () => {
      await console.go(page, 'search');
      await console.go(page, at(''));
      await page.click('text=New …');
      await page.locator('dialog[open]').waitFor();
      await page.goBack();
      await page.locator('h1 >> text=Search by type').waitFor();
      expect(await page.locator('dialog[open]').count()).to.equal(0);
      await console.go(page, 'owners');
      await page.click('text=Enter an identity instead');
      await page.fill('[name=id]', 'nobody');
      await page.locator('[name=name]').first().fill('Nobody');
      await page.click('text=Add owner');
      await page.locator('.notice.bad').waitFor();
      await console.go(page, at(''));
      await page.locator('.notice.bad').waitFor({ state: 'detached' });
    });

    it('switches between the pages of containers and resources by type, and reports unknown pages', async () => {
      await send('PUT', 'file.txt', { 'Content-Type': 'text/plain' }, 'hello');
      await console.go(page, at('file.txt'));
      await page.locator('h1 >> text=file.txt').waitFor();
      await page.waitForURL(/#\/resource\?/);
      expect(await page.title()).to.contain('file.txt');
      await console.go(page, `resource?at=${encodeURIComponent(console.server.root)}`);
      await page.waitForURL(/#\/browse\?/);
      for (const bogus of ['nowhere', 'constructor', 'Browse']) {
        await console.go(page, bogus);
        await page.locator('h1', { hasText: `No page “${bogus}”` }).waitFor();
      }
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.click('main a');
      await page.locator('td >> text=file.txt').waitFor();
    });

    it('reports a lost connection, offers a retry and reconnects automatically', async () => {
      const other = await console.owner();
      await other.locator('td >> text=file.txt').waitFor();
      await other.context().route('**', (route) => route.abort());
      await console.go(other, at('data/'));
      await other.locator('.lost >> text=no connection').waitFor();
      await console.go(other, at(''));
      await other.locator('quad-refused >> text=cannot be reached').waitFor();
      const retried = other.waitForRequest(
        (each) => each.method() === 'HEAD' && each.url() === `${console.server.root}app`,
      );
      await other.click('.lost >> text=Try again');
      await retried;
      await other.context().unroute('**');
      await other.locator('td >> text=file.txt').waitFor();
      expect(await other.locator('.lost').count()).to.equal(0);
    });

    it('uploads a folder, asks about conflicts once, lists rejected files and stores the others', async () => {
      for (let i = 0; i < 60; i++) {
        const within = join(folder, `set ${i % 5}`);
        mkdirSync(within, { recursive: true });
        writeFileSync(join(within, `file ${i}.ttl`), `<#it> <http://example.org/number> ${i} .`);
      }
      writeFileSync(join(folder, 'broken.ttl'), '<#it> broken .');
      await send('PUT', 'data/', asContainer);
      await console.go(page, at('data/'));
      await page.locator('.empty').waitFor();
      await page.setInputFiles('input[webkitdirectory]', folder);
      await page.locator('.uploads [role=status] >> text=60 of 61 files done, 1 failed').waitFor();
      await page.locator('.uploads .failed >> text=line 1').waitFor();
      await console.go(page, at(''));
      expect(await page.locator('.uploads').count(), 'shown for its container only').to.equal(0);
      await console.go(page, at('data/'));
      await page.click('text=Close the list');
      writeFileSync(join(folder, 'broken.ttl'), '<#it> <#is> "whole" .');
      await page.setInputFiles('input[webkitdirectory]', folder);
      await page.locator('.question').waitFor();
      expect(await page.locator('.uploads [role=status]').textContent()).to.contain(
        '1 of 61 files done, 60 exist already',
      );
      await page.click('text=Keep what is there');
      await page.locator('.uploads [role=status] >> text=61 of 61 files done').waitFor();
      expect(await page.locator('.uploads li').count(), 'successful uploads are not listed').to.equal(0);
      await page.click('.uploads >> text=Close');
      const name = folder.replace(/^.*\//, '');
      const answer = await send('GET', `data/${name}/set%202/file%2012.ttl`, { Accept: 'text/turtle' });
      expect(answer.status).to.equal(200);
      expect(answer.headers['content-type']).to.contain('text/turtle');
    });

    it('uploads RDF files by extension, and imports files with several named graphs (rule 17.10)', async () => {
      const line = (graph: string): string => `<x:s> <x:p> "o"${graph && ` <x:${graph}>`} .\n`;
      const texts = {
        'one.nq': line(''),
        'named.nq': line('a'),
        'several.nq': line('a') + line('b'),
        'plain.trig': '{ <x:s> <x:p> "o" }',
        'one.owl': `<rdf:Description xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="x:" rdf:about="x:s" x:p="o"/>`,
        'one.jsonld': '{ "@id": "x:s", "x:p": "o" }',
      };
      await send('PUT', 'sets/', asContainer);
      await console.go(page, at('sets/'));
      await page.locator('.empty').waitFor();
      await page.setInputFiles(
        'input[type=file]:not([webkitdirectory])',
        Object.entries(texts).map(([name, text]) => ({ name, mimeType: '', buffer: Buffer.from(text) })),
      );
      await page.locator('.uploads [role=status] >> text=6 of 6 files done').waitFor();
      const resources = Object.keys(texts).filter((name) => name !== 'several.nq');
      for (const name of [...resources, 'several.nq/a', 'several.nq/b']) {
        const answer = await send('GET', `sets/${name}`, { Accept: 'text/turtle' });
        expect(answer.text, name).to.include('"o"');
        expect(answer.headers['content-type'], name).to.contain('text/turtle');
      }
      await page.click('.uploads >> text=Close');
    });

    it('filters by name, and downloads and deletes the selection', async () => {
      await send('PUT', 'some/', asContainer);
      for (const name of ['apple', 'pear', 'pineapple'])
        await send('PUT', `some/${name}.txt`, { 'Content-Type': 'text/plain' }, name);
      await console.go(page, at('some/'));
      await page.locator('td >> text=pear.txt').waitFor();
      await page.fill('input[type=search]', 'APPLE');
      await page.locator('text=2 of 3 have that name').waitFor();
      await console.go(page, at(''));
      await page.locator('td >> text=some').waitFor();
      expect(await page.locator('input[type=search]').inputValue()).to.equal('');
      await console.go(page, at('some/'));
      await page.locator('td >> text=pear.txt').waitFor();
      await page.fill('input[type=search]', 'APPLE');
      await page.locator('text=2 of 3 have that name').waitFor();
      await page.check('[aria-label="Select pineapple.txt"]');
      const saving = page.waitForEvent('download');
      await page.click('text=Download');
      expect((await saving).suggestedFilename()).to.equal('pineapple.txt');
      await page.click('button >> text=Delete');
      await page.click('dialog[open] >> button >> text=Delete');
      await page.locator('.notice', { hasText: '“pineapple.txt” deleted.' }).waitFor();
      expect((await send('GET', 'some/pineapple.txt')).status).to.equal(404);
      expect((await send('GET', 'some/apple.txt')).status).to.equal(200);
    });

    it('deletes a large container in steps, shows progress and stops on request', async () => {
      for (const name of ['heap/', 'heap/deep/']) await send('PUT', name, asContainer);
      for (let i = 0; i < 520; i += 52)
        await Promise.all(
          Array.from({ length: 52 }, (_, j) =>
            send('PUT', `heap/deep/n${i + j}`, { 'Content-Type': 'text/plain' }, 'x'),
          ),
        );
      const type = 'urn:problem-type:quadpod:too-complex';
      await page.route('**/.lws/trash', (route) =>
        route.fulfill({ status: 422, json: { type, title: 'Too complex' } }),
      );
      let deletions = 0;
      let release = (): void => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route('**/heap/deep/n*', async (route) => {
        if (route.request().method() === 'DELETE' && ++deletions > 20) await held;
        await route.continue();
      });
      const begin = async (): Promise<void> => {
        await console.go(page, at(''));
        await page.check('[aria-label="Select heap"]');
        await page.getByRole('group', { name: 'Selected' }).getByRole('button', { name: 'Delete' }).click();
        await page.click('dialog[open] >> button >> text=Delete “heap”');
        await page.click('dialog[open] >> button >> text=Delete permanently');
      };
      await begin();
      await page.getByText('Deleting: 20 deleted').waitFor();
      await page.getByRole('progressbar', { name: 'Deleting' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByRole('button', { name: 'Stop' }).click();
      release();
      await page.locator('.notice', { hasText: 'Stopped. Deleted items stay deleted.' }).waitFor();
      expect(deletions).to.be.below(30);
      expect((await send('GET', 'heap/deep/')).status).to.equal(200);
      await page.unroute('**/heap/deep/n*');
      // One request suffices for the remaining members.
      await begin();
      await page.locator('.notice', { hasText: '“heap” deleted.' }).waitFor();
      await page.unroute('**/.lws/trash');
      expect((await send('GET', 'heap/')).status).to.equal(404);
    });

    it('shows hostile names as text', async () => {
      const hostile = [
        '<img src=x onerror=alert(1)>',
        '"><script>alert(1)</script>',
        'javascript:alert(1)',
        '{{7*7}}',
        '%00%2e%2e',
      ];
      await send('PUT', 'hostile/', asContainer);
      for (const name of hostile)
        await send('PUT', `hostile/${encodeURIComponent(name)}`, { 'Content-Type': 'text/plain' }, name);
      await console.go(page, at('hostile/'));
      for (const name of hostile.slice(0, 4)) await page.locator('td a', { hasText: name }).waitFor();
      expect(await page.locator('main img, main script').count()).to.equal(0);
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
