/** Console: linkset of a resource, as a form and as JSON, in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { ConsoleResources, save } from '../support/console-resources.js';
import { pathsOf } from '../support/places.js';
import { until } from '../support/until.js';

const person = 'http://schema.org/Person';

for (const path of pathsOf('The console, metadata'))
  describeInBrowser(`The console, metadata, at ${path || '/'}`, () => {
    const console = new Console();
    const resources = new ConsoleResources(console);
    let page: Page;
    before(async () => {
      await console.start({ path });
      page = await console.owner();
    });
    after(() => console.stop());

    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const stored = async (name: string): Promise<string> =>
      (await resources.send('GET', `${name}.meta`, { Accept: 'application/linkset+json' })).text;
    /** Changes the metadata of a resource as another user. */
    const patch = async (name: string, change: object): Promise<void> => {
      const { etag = '' } = (await resources.send('HEAD', `${name}.meta`)).headers;
      const fields = { 'Content-Type': 'application/merge-patch+json', 'If-Match': etag };
      const answer = await resources.send('PATCH', `${name}.meta`, fields, JSON.stringify(change));
      expect(answer.status, answer.text).to.be.within(200, 299);
    };
    const opened = async (name: string): Promise<void> => {
      await resources.put(name, 'text/plain', `of ${name}`);
      await resources.open(page, name);
      await page.getByRole('tab', { name: 'Metadata' }).click();
      await page.getByText('Advanced').click();
      await page.getByText('Set by the server').waitFor();
    };
    /** Waits until a change that was made with a button is saved. */
    const saved = () => page.locator('.state:visible', { hasText: 'Saved.' }).waitFor();
    /** Types an IRI instead of choosing a name. */
    const typeOther = async (name: string, text: string): Promise<void> => {
      const choice = page.locator(`select[name=${name}]`);
      if ((await choice.count()) > 0) await choice.selectOption('other');
      await page.fill(`input[name=${name}]`, text);
    };
    const addType = async (type: string): Promise<void> => {
      await typeOther('type', type);
      await button('Add type').click();
      await button(`Remove the type ${type}`).waitFor();
    };
    const addLink = async (relation: string, href: string, title = ''): Promise<void> => {
      await typeOther('relation', relation);
      await page.fill('[name=href]', href);
      await page.fill('[name=title]', title);
      await button('Add link').click();
    };

    it('adds, changes and removes types and links in a form', async () => {
      await opened('form.txt');
      await addType(person);
      await addLink('describedby', resources.iri('about'), 'About');
      await page.getByLabel('Title of describedby').waitFor();
      await saved();
      await until(async () => (await stored('form.txt')).includes(resources.iri('about')));
      expect(await stored('form.txt'))
        .to.contain(person)
        .and.to.contain('About');
      expect(await axeFindings(page)).to.deep.equal([]);
      await page.getByLabel('Title of describedby').fill('Everything about it');
      await save(page);
      expect(await stored('form.txt')).to.contain('Everything about it');
      await button(`Remove describedby ${resources.iri('about')}`).click();
      await until(async () => !(await stored('form.txt')).includes('describedby'));
      await button(`Remove the type ${person}`).click();
      await until(async () => !(await stored('form.txt')).includes(person));
      expect((await resources.send('GET', 'form.txt')).text).to.equal('of form.txt');
    });

    it('offers licenses, authors, types and relations in words, and saves them at once', async () => {
      await opened('words.txt');
      await page.getByLabel('New license').selectOption('CC BY 4.0');
      await button('Add license').click();
      await page.locator('resource-metadata li', { hasText: 'CC BY 4.0' }).waitFor();
      await saved();
      const author = page.locator('section', { has: page.getByRole('heading', { name: 'Author' }) });
      await author.getByLabel('Name').fill('Ada');
      await author.getByLabel('Web address').fill('https://orcid.org/0000-0001');
      await button('Add author').click();
      await page.locator('resource-metadata li', { hasText: 'Ada' }).waitFor();
      await page.getByLabel('New type').selectOption('Software application');
      await button('Add type').click();
      await page.locator('resource-metadata li', { hasText: 'Software application' }).waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await until(async () => (await stored('words.txt')).includes('SoftwareApplication'));
      expect(await page.getByText('not saved').count()).to.equal(0);
      const { linkset } = JSON.parse(await stored('words.txt')) as { linkset: readonly Record<string, unknown>[] };
      expect(linkset[0]!['license']).to.deep.equal([
        { href: 'https://creativecommons.org/licenses/by/4.0/', title: 'CC BY 4.0' },
      ]);
      expect(linkset[0]!['author']).to.deep.equal([{ href: 'https://orcid.org/0000-0001', title: 'Ada' }]);
      await page.getByLabel('New type').selectOption('Other (web address) …');
      expect(await page.evaluate('document.activeElement.name')).to.equal('type');
      await page.getByLabel('New type (web address)').fill(person);
      await button('Add type').click();
      await page.locator('select[name=type]').waitFor();
    });

    it('shows links that the server manages read-only, and rejects additions to them', async () => {
      await opened('given.txt');
      const managed = page.locator('details', { hasText: 'Set by the server' }).locator('dl');
      expect(await managed.textContent())
        .to.contain('up')
        .and.to.contain(console.server.root);
      expect(await managed.locator('input, button').count()).to.equal(0);
      await addLink('up', 'http://example.org/');
      await page.locator('.problem', { hasText: '“up” is managed by the server' }).waitFor();
      expect(await page.inputValue('[name=relation]')).to.equal('up');
      expect(await page.locator('.state:visible').count()).to.equal(0);
    });

    it('shows the linkset as JSON and accepts changes there', async () => {
      await opened('json.txt');
      await addType(person);
      await button('JSON').click();
      const editor = page.locator('resource-metadata .cm-content');
      await editor.filter({ hasText: person }).waitFor();
      await page.evaluate(`{
        const editor = document.querySelector('resource-metadata quad-editor');
        const linkset = JSON.parse(editor.value);
        linkset.linkset[0].license = [{ href: 'http://example.org/free', title: 'Free' }];
        window.written = JSON.stringify(linkset);
      }`);
      await editor.click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText((await page.evaluate('window.written')) as string);
      await button('Form').click();
      expect(await page.getByLabel('Web address of license').inputValue()).to.equal('http://example.org/free');
      await save(page);
      expect(await stored('json.txt'))
        .to.contain('http://example.org/free')
        .and.to.contain(person);
      await button('JSON').click();
      await editor.click();
      await page.keyboard.press('Control+End');
      await page.keyboard.insertText('}');
      await page.locator('resource-metadata .cm-lint-marker-error').waitFor();
      await page.locator('text=The form is available once this can be parsed').waitFor();
      expect(await button('Form').isDisabled()).to.equal(true);
      expect(await axeFindings(page)).to.deep.equal([]);
      await button('Undo all changes').click();
      expect(await button('Form').isDisabled()).to.equal(false);
    });

    it("shows the server's error message and keeps the input", async () => {
      await opened('refused.txt');
      const answering = page.waitForResponse((response) => response.request().method() === 'PUT');
      await addType('not absolute');
      const { detail } = (await (await answering).json()) as { detail: string };
      await page.locator('resource-metadata .problem', { hasText: detail }).waitFor();
      await button('Remove the type not absolute').waitFor();
      expect(await stored('refused.txt')).not.to.contain('not absolute');
      await button('Undo all changes').click();
      await page.locator('resource-metadata .problem').waitFor({ state: 'detached' });
    });

    for (const [choice, kept, lost] of [
      ['Save mine over it', 'mine', 'theirs'],
      ['Use theirs', 'theirs', 'mine'],
    ] as const)
      it(`shows both versions after a concurrent change: ${choice.toLowerCase()}`, async () => {
        const name = `two-${kept}.txt`;
        await opened(name);
        await patch(name, { author: [{ href: 'http://example.org/theirs' }] });
        await addLink('author', 'http://example.org/mine');
        for (const [title, message] of [
          ['Your version', 'mine'],
          ['Their version', 'theirs'],
        ])
          await page
            .locator(`resource-metadata section[aria-label="${title}"]`, { hasText: `example.org/${message}` })
            .waitFor();
        expect(await axeFindings(page)).to.deep.equal([]);
        await button(choice).click();
        await page.getByLabel('Web address of author').waitFor();
        expect(await stored(name))
          .to.contain(`example.org/${kept}`)
          .and.not.to.contain(`example.org/${lost}`);
        expect(await page.getByLabel('Web address of author').inputValue()).to.equal(`http://example.org/${kept}`);
        await addType(person);
        await until(async () => (await stored(name)).includes(person));
      });

    it('fits a screen of 320 pixels and is accessible in dark mode', async () => {
      await patch('form.txt', { author: [{ href: `http://example.org/${'long'.repeat(60)}` }], note: 'a text' });
      const small = await console.owner({ viewport: { width: 320, height: 640 }, colorScheme: 'dark' });
      await resources.open(small, 'form.txt');
      await small.getByRole('tab', { name: 'Metadata' }).click();
      await small.getByText('Advanced').click();
      await small.getByLabel('Web address of author').waitFor();
      await small.locator('code', { hasText: '"a text"' }).waitFor();
      expect(await small.evaluate('document.documentElement.scrollWidth')).to.equal(320);
      expect((await small.getByLabel('Web address of author').boundingBox())!.width).to.be.above(200);
      expect(await axeFindings(small)).to.deep.equal([]);
    });

    it('causes no script error or CSP violation and contacts no other origin', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
