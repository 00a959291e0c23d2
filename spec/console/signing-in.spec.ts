/** The console: signing in, in a browser (service.md, "Reserved paths"; open-points 1.5). */
import { expect } from 'chai';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';

for (const path of ['', '/some/path'])
  describeInBrowser(`The console, signing in, at ${path || '/'}`, () => {
    const console = new Console();
    before(() => console.start({ path }));
    after(() => console.stop());

    it('takes the credential off the address, and shows the root', async () => {
      const page = await console.owner();
      expect(page.url()).to.equal(`${console.server.root}app`);
      expect(await page.locator('.who').textContent()).to.contain('did:key');
      await page.reload();
      await page.locator('.who >> text=did:key').waitFor();
      expect(await page.locator('main h1').textContent()).to.equal(new URL(console.server.root).host);
    });

    it('shows nothing to nobody, and says how to go on', async () => {
      const page = await console.person();
      await page.goto(`${console.server.root}app`);
      await page.locator('main [role=alert]').waitFor();
      await page.click('main >> text=Sign in');
      await page.locator('h1 >> text=Sign in').waitFor();
    });

    it('signs in with a pasted credential, and says what is wrong with a bad one', async () => {
      const page = await console.person();
      await page.goto(console.at('signin'));
      await page.fill('textarea', 'nonsense');
      await page.click('form button');
      await page.locator('.notice >> text=three parts').waitFor();
      await page.fill('textarea', `${console.server.ownerToken!.slice(0, -6)}AAAAAA`);
      await page.click('form button');
      await page.locator('.notice.bad').nth(1).waitFor();
      await page.fill('textarea', console.server.ownerToken!);
      await page.click('form button');
      await page.locator('.who >> text=did:key').waitFor();
    });

    it('makes a browser an owner, which signs in again by itself', async () => {
      const page = await console.owner();
      await console.go(page, 'owners');
      await page.fill('input[name=name]', 'This laptop');
      await page.click('text=Make this browser an owner');
      await page.locator('td >> text=This laptop').waitFor();
      expect(await axeFindings(page)).to.deep.equal([]);
      await console.go(page, 'signin');
      await page.locator('h1 >> text=Sign in').waitFor();
      await page.click('button >> text=Sign in as this browser');
      await page.locator('.who >> text=This browser').waitFor();
      await page.locator('button >> text=New').waitFor();
      await page.reload();
      await page.locator('.who >> text=This browser').waitFor();
      expect(await page.locator('main [role=alert]').count()).to.equal(0);
    });

    it('forgets everything on signing out', async () => {
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
      await page.locator('.who >> text=Nobody').waitFor();
    });

    it('was never against its policy, and asked nobody else', () => {
      expect(console.complaints).to.deep.equal([]);
      expect([...console.elsewhere]).to.deep.equal([]);
    });
  });
