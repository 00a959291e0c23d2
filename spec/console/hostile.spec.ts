/** Console: hostile content of a storage is shown but never executed, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { Console, describeInBrowser } from '../support/browser.js';
import { asContainer } from '../support/conformance.js';
import { ConsoleResources, editor } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';

const run = 'top.ran=1;alert(1)';
const texts = [
  `<script>${run}</script>`,
  `"><script>${run}</script>`,
  `</textarea><script>${run}</script>`,
  `<img src=x onerror=${run}>`,
  `'"><svg onload=${run}>`,
  `<iframe srcdoc="<script>${run}</script>">`,
  `<style>@import 'http://example.org/x.css'</style>`,
  `<a href="javascript:${run}">press</a>`,
  `<base href="http://example.org/">`,
  `<meta http-equiv="refresh" content="0;url=http://example.org/">`,
  `" autofocus onfocus="${run}`,
  `javascript:${run}`,
  '{{constructor.constructor("alert(1)")()}}',
  '<%= alert(1) %>',
  '<!--?lit$1234$-->',
  '&lt;script&gt;alert(1)&lt;/script&gt;',
  '\u202egnp.exe',
  '__proto__',
];
const addresses = [
  `javascript:${run}`,
  `JaVaScRiPt:${run}`,
  `data:text/html,<script>${run}</script>`,
  'data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==',
  'vbscript:msgbox(1)',
  'blob:http://example.org/1',
  'file:///etc/passwd',
  'http://user:password@example.org/',
  `http://example.org/'onmouseover='${run}`,
  'urn:x:__proto__',
  `javascript://example.org/%0a${run}`,
];
const scripted = `<html xmlns="http://www.w3.org/1999/xhtml"><script>${run}</script></html>`;
const kinds = [
  ['text/html', scripted],
  ['application/xhtml+xml', scripted],
  ['text/html; charset="utf-8"', scripted],
  ['TEXT/HTML', scripted],
  ['image/svg+xml', `<svg xmlns="http://www.w3.org/2000/svg" onload="${run}"><script>${run}</script></svg>`],
  [
    'image/svg+xml; charset=utf-8',
    `<svg xmlns="http://www.w3.org/2000/svg"><foreignObject>${scripted}</foreignObject></svg>`,
  ],
  ['image/png', scripted],
  ['application/pdf', scripted],
  ['text/xml', `<?xml-stylesheet href="data:text/xsl,x" type="text/xsl"?>${scripted}`],
  ['text/javascript', run],
  ['application/json', JSON.stringify({ __proto__: null, [texts[0]!]: texts[3] })],
  ['multipart/x-mixed-replace', scripted],
] as const;

for (const path of pathsOf('The console, untrusted content'))
  describeInBrowser(`The console, untrusted content, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    /** Dialogs, popups and navigations out of the console. */
    const escapes: string[] = [];
    before(async () => {
      await console.start({ path });
      page = await console.owner();
      page.on('dialog', (dialog) => {
        escapes.push(`dialog ${dialog.message()}`);
        void dialog.dismiss();
      });
      page.on('popup', (other) => escapes.push(`popup ${other.url()}`));
      page.on('framenavigated', (frame) => {
        if (
          !/^(?:about|blob|chrome-extension):/.test(frame.url()) &&
          !frame.url().startsWith(`${console.server.root}app`)
        )
          escapes.push(`navigation ${frame.url()}`);
      });
      await resources.send('PUT', 'hostile/', asContainer);
    });
    after(() => console.stop());

    const within = (name: string): string => `hostile/${encodeURIComponent(name)}`;
    /** Returns the markup and attributes of the page that could run code, on load or on a click. */
    const dangers = (): Promise<unknown> =>
      page.evaluate(`[document, ...[...document.querySelectorAll('quad-editor')].map(({ shadowRoot }) => shadowRoot)].flatMap((root) => [
        ...[...root.querySelectorAll('body script, base, meta[http-equiv], object, embed, [srcdoc]')].map(({ outerHTML }) => outerHTML),
        ...[...root.querySelectorAll('*')].flatMap(({ attributes }) => [...attributes])
          .filter(({ name, value }) => /^on/i.test(name) || (/^(?:href|src|action|formaction)$/.test(name) && !/^(?:#|https?:|blob:|app)/.test(value)))
          .map(({ name, value }) => name + '=' + value),
      ]).concat(window.ran === undefined ? [] : ['ran'])`);
    const expectQuiet = async (what: string): Promise<void> => {
      expect(await dangers(), what).to.deep.equal([]);
      expect(escapes, what).to.deep.equal([]);
    };

    it('shows names as text', async () => {
      for (const name of texts) await resources.put(within(name), 'text/plain', name);
      await console.go(page, `browse?${new URLSearchParams({ at: resources.iri('hostile/') })}`);
      await page.locator(`text=${texts.length} items`).waitFor();
      await expectQuiet('listing');
      for (const name of texts) {
        await resources.open(page, within(name), name);
        await editor(page).waitFor();
        expect(await page.locator('main h1').textContent()).to.equal(name);
        await expectQuiet(name);
      }
    });

    it('shows literals as text', async () => {
      const lines = texts.map((text, i) => `<#n${i}> <#says> ${JSON.stringify(text)}, ${JSON.stringify(text)}@en .`);
      await resources.put('hostile/literals', 'text/turtle', lines.join('\n'));
      await resources.openSource(page, 'hostile/literals');
      await editor(page).waitFor();
      await expectQuiet('text');
      await page.getByRole('tab', { name: 'Data', exact: true }).click();
      for (const text of texts)
        await page
          .locator('.triples td')
          .getByText(text)
          .or(page.locator('.triples td', { hasText: text }))
          .first()
          .waitFor();
      await expectQuiet('table');
    });

    it('links to web addresses only', async () => {
      const lines = addresses.map((iri, i) => `<#n${i}> <#at> <${iri.replace(/[<>]/g, encodeURIComponent)}> .`);
      await resources.put('hostile/addresses', 'text/turtle', lines.join('\n'));
      await resources.open(page, 'hostile/addresses');
      await page.getByRole('tab', { name: 'Data', exact: true }).click();
      await page
        .locator('.triples td')
        .nth(addresses.length - 1)
        .waitFor();
      await expectQuiet('table');
      const external = await page.evaluate(
        "[...document.querySelectorAll('.triples a[target]')].map(({ href }) => href)",
      );
      expect(external).to.deep.equal(addresses.filter((iri) => iri.startsWith('http')));
    });

    it('executes no content of any media type', async () => {
      for (const [i, [mediaType, body]] of kinds.entries()) {
        await resources.put(`hostile/kind${i}`, mediaType, body);
        await resources.open(page, `hostile/kind${i}`);
        await page.locator('.cm-content, .triples, img, iframe, .empty').first().waitFor();
        await expectQuiet(mediaType);
      }
    });

    it('shows metadata as text', async () => {
      await resources.open(page, 'hostile/kind0');
      await page.getByRole('tab', { name: 'Metadata' }).click();
      await page.getByText('Advanced').click();
      for (const [i, text] of texts.slice(0, addresses.length).entries()) {
        await page.locator('select[name=relation]').selectOption('other');
        await page.fill('input[name=relation]', `http://example.org/relation${i}`);
        await page.fill('[name=href]', addresses[i]!);
        await page.fill('[name=title]', text);
        await page.getByRole('button', { name: 'Add link' }).click();
      }
      await page.getByLabel(`Title of http://example.org/relation${addresses.length - 1}`).waitFor();
      await expectQuiet('metadata');
    });

    it('opens no address outside the storage from its URL', async () => {
      for (const name of ['resource', 'browse', 'sharing'])
        for (const at of [
          ...addresses.slice(0, 7),
          'https://example.org/',
          '//example.org/',
          `${resources.iri('')}${texts[3]}`,
        ]) {
          await console.go(page, 'owners');
          await page.evaluate(`location.hash = ${JSON.stringify(`#/${name}?${new URLSearchParams({ at })}`)}`);
          await page.locator(`page-${name}, page-resource`).locator('h1, .empty, .problem').first().waitFor();
          await expectQuiet(`${name} ${at}`);
        }
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(escapes).to.deep.equal([]);
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
