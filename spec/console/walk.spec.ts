/** Console: every page as owner, guest, new user and anonymous caller, on a phone and a desktop, in both colours, and by keyboard. */
import { expect } from 'chai';
import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { axeFindings, Console, describeInBrowser } from '../support/browser.js';
import { request } from '../support/http.js';
import { fillResearchGroup } from '../support/research-group.js';
import { lwsContext, lwsJson } from '../support/search.js';

const settings = {
  'agents.enabled': 'true',
  'shapes.enabled': 'true',
  'text-search.enabled': 'true',
};

/** WCAG 1.4.10 requires a width of 320 pixels. */
const phone = { viewport: { width: 320, height: 640 }, colorScheme: 'dark' } as const;
const desktop = { viewport: { width: 1280, height: 800 }, colorScheme: 'light' } as const;

const navigationOf = {
  owner: ['Browse', 'Search', 'Ask', 'Share', 'Requests', 'Storage', 'Owners'],
  guest: ['Browse', 'Search', 'Ask', 'Requests'],
  newcomer: ['Browse', 'Search', 'Ask', 'Requests'],
  nobody: ['Browse', 'Search', 'Ask'],
};
type Role = keyof typeof navigationOf;
/** Titles of pages that the navigation of some roles has only while they are open. */
const titles: Readonly<Record<string, string>> = {
  sharing: 'Share',
  requests: 'Requests',
  admin: 'Storage',
  owners: 'Owners',
};

/** Pages by role. `[name]` is the IRI of a resource. Of those in `refused`, the user cannot read the resource, and sees how to get access. */
const everywhere = ['browse', 'search', 'ask', 'sharing', 'requests', 'admin', 'owners', 'trash', 'signin', 'nowhere'];
const administration = ['activity', 'explain', 'agents', 'transfer', 'storage'].map((tab) => `admin?tab=${tab}`);
const person = 'people/ada-okafor.ttl';
const pages: Readonly<Record<Role, readonly string[]>> = {
  owner: [
    ...everywhere,
    ...administration,
    'browse?at=[people/]',
    ...[person, 'README.md', 'measurements/raw-2025-06.csv', 'queries/temperatures.rq'].map(
      (at) => `resource?at=[${at}]`,
    ),
    'search?q=river',
    'sharing?at=[people/]',
    'requests?ask=[people/]',
    'shapes?at=[people/]',
    `form?at=[${person}]`,
  ],
  guest: [...everywhere, 'browse?at=[people/]', `resource?at=[${person}]`],
  newcomer: ['browse', 'browse?at=[people/]', 'search', 'sharing', 'requests', 'admin?tab=storage'],
  nobody: [...everywhere, 'browse?at=[people/]'],
};
const refused: Readonly<Record<Role, readonly string[]>> = {
  owner: [],
  guest: [],
  newcomer: ['browse?at=[people/]'],
  nobody: ['browse', 'browse?at=[people/]'],
};

describeInBrowser('The console, each page', () => {
  const console = new Console();
  before(async () => {
    await console.start({ path: '/some/path', settings });
    await fillResearchGroup(console.server.root, console.server.ownerToken!);
  });
  after(() => console.stop());

  const placeOf = (page: string): string =>
    page.replace(/\[(.*)\]/, (_, name: string) => encodeURIComponent(console.server.root + name));

  async function newUser(options: BrowserContextOptions): Promise<Page> {
    const page = await console.person(options);
    await page.goto(console.at('signin'));
    await page.getByRole('button', { name: 'Continue with this browser' }).click();
    await page.locator('.who >> text=This browser').waitFor();
    return page;
  }

  async function guest(options: BrowserContextOptions): Promise<Page> {
    const page = await newUser(options);
    const { root, ownerToken } = console.server;
    const assignee = await page.locator('.who span').getAttribute('title');
    const target = { type: 'Container', value: [`${root}people/`] };
    const access = [{ type: ['AccessPolicy'], action: ['read', 'create'], assignee, target }];
    const { status, text } = await request(`${root}.lws/access-grants`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${ownerToken}`, 'Content-Type': lwsJson },
      body: JSON.stringify({ '@context': lwsContext, type: ['AccessGrant'], storage: root, access }),
    });
    expect(status, text).to.equal(201);
    return page;
  }

  const signIn: Readonly<Record<Role, (options: BrowserContextOptions) => Promise<Page>>> = {
    owner: (options) => console.owner(options),
    guest,
    newcomer: newUser,
    async nobody(options) {
      const page = await console.person(options);
      await page.goto(console.at('browse'));
      return page;
    },
  };

  async function settled(page: Page): Promise<void> {
    await page.locator('main h1').first().waitFor();
    const busy = page.locator('main').getByText(/(?:Loading|Reading|Searching|Connecting).* …$/);
    // Panels of other tabs stay hidden in the document.
    await busy.filter({ visible: true }).first().waitFor({ state: 'detached' });
  }

  for (const [role, places] of Object.entries(pages) as [Role, readonly string[]][])
    it(`shows each page to ${role} without errors, and the same after a reload`, async function () {
      this.timeout(this.timeout() * 3);
      const page = await signIn[role](desktop);
      for (const place of places) {
        const open = titles[place.replace(/\?.*/, '')];
        const links = navigationOf.owner.filter((title) => navigationOf[role].includes(title) || title === open);
        const what = `${place} as ${role}`;
        await console.go(page, placeOf(place));
        await settled(page);
        await page.reload();
        await settled(page);
        await page
          .locator('.top nav a')
          .nth(links.length - 1)
          .waitFor();
        expect(await page.locator('.top nav a').allInnerTexts(), what).to.deep.equal(links);
        expect(await page.title(), what).to.match(/^.+ – localhost:\d+ – Quadpod$/);
        expect(await page.locator('h1').count(), what).to.equal(1);
        const errors = await page.locator('.problem, .notice.bad').allInnerTexts();
        expect(errors, what).to.deep.equal([]);
        expect(await page.locator('.refused').count(), what).to.equal(refused[role].includes(place) ? 1 : 0);
        for (const { viewport, colorScheme } of [phone, desktop]) {
          await page.setViewportSize(viewport);
          await page.emulateMedia({ colorScheme });
          expect(await page.evaluate('document.documentElement.scrollWidth'), what).to.equal(viewport.width);
          expect(await axeFindings(page), `${what}, ${colorScheme}`).to.deep.equal([]);
        }
        if (role === 'owner') expect(await missedByTab(page), what).to.deep.equal([]);
      }
    });

  it('creates, uploads, renames, moves, shares, queries, deletes and restores by keyboard', async () => {
    const page = await console.person();
    const link = (name: string) => page.getByRole('link', { name, exact: true });
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const titled = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
    const notice = (text: string) => page.locator('.notice', { hasText: text }).waitFor();
    /** Presses Tab, or Shift and Tab for the navigation above, until a control has the focus, then the keys. */
    async function on(control: Locator, ...keys: string[]): Promise<void> {
      await control.waitFor({ state: 'attached' });
      const isFocused = () => control.evaluate((each) => each.matches(':focus'));
      const step = (await control.evaluate((each) => each.closest('nav') !== null)) ? 'Shift+Tab' : 'Tab';
      for (let presses = 0; !(await isFocused()); presses++) {
        expect(presses, `${step} reaches ${control}`).to.be.below(60);
        await page.keyboard.press(step);
      }
      for (const key of keys) await page.keyboard.press(key);
    }
    async function type(control: Locator, text: string): Promise<void> {
      await on(control, 'Control+A');
      await page.keyboard.insertText(text);
    }
    async function move(name: string, path: string): Promise<void> {
      await on(page.getByLabel(`Select ${name}`, { exact: true }), 'Space');
      await on(button('Rename or move …'), 'Enter');
      await type(page.getByLabel('New path'), path);
      await page.keyboard.press('Enter');
      await notice(`“${name}” moved.`);
    }

    await page.goto(console.at('signin'));
    await on(page.locator('summary', { hasText: 'sign-in link or credential' }), 'Enter');
    await type(page.getByLabel('Credential'), console.server.ownerToken!);
    await on(button('Sign in'), 'Enter');
    await on(button('New …'), 'Enter');
    await type(page.getByLabel('Name', { exact: true }), 'field notes');
    await page.keyboard.press('Enter');
    await titled('field notes');
    const choosing = page.waitForEvent('filechooser');
    await on(page.getByLabel('Add files'), 'Space');
    await (await choosing).setFiles({ name: 'may.txt', mimeType: 'text/plain', buffer: Buffer.from('Rain.') });
    await link('may.txt').waitFor();
    await move('may.txt', 'field notes/june.txt');
    await link('june.txt').waitFor();
    await move('june.txt', 'papers/');
    await on(page.getByRole('main').getByRole('link', { name: 'Share' }), 'Enter');
    await titled('Access to the folder field notes');
    await type(page.getByLabel('Person, by name or address'), 'https://mei.example/#me');
    await page.keyboard.press('Enter');
    await page.getByRole('region', { name: 'People with access' }).getByText('https://mei.example/#me').waitFor();
    await on(link('Ask'), 'Enter');
    await on(page.getByRole('textbox', { name: 'Query' }), 'Control+Enter');
    await page.getByText(/^100 rows/).waitFor();
    await on(link('Browse'), 'Enter');
    await on(link('papers'), 'Enter');
    await on(page.getByLabel('Select june.txt'), 'Space');
    await on(button('Delete'), 'Enter');
    await on(button('Delete “june.txt”'), 'Enter');
    await notice('“june.txt” deleted.');
    await on(link('Browse'), 'Enter');
    await on(page.locator('summary', { hasText: 'More' }), 'Enter');
    await on(link('Trash'), 'Enter');
    await on(button('Restore papers/june.txt'), 'Enter');
    await titled('june.txt');
  });

  it('causes no script error or CSP violation and contacts no other origin', () => {
    expect(console.complaints).to.deep.equal([]);
    expect([...console.elsewhere]).to.deep.equal([]);
  });
});

/** Controls in the order of the document. Of radio buttons with the same name, one has the focus. */
const controls = `window.walked = [...document.querySelectorAll(
  'a[href], button, input:not([type=radio]:not(:checked)), select, textarea, summary, [tabindex="0"]')]
  .filter((each) => !each.disabled && each.tabIndex >= 0 && each.checkVisibility({ visibilityProperty: true }));
  walked.length`;
const focused = `(() => {
  const at = document.activeElement;
  const styles = [at, at.parentElement, at.shadowRoot?.activeElement, at.shadowRoot?.querySelector('.cm-editor')]
    .filter(Boolean).map((each) => getComputedStyle(each));
  const isShown = styles.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) > 0);
  return { index: walked.indexOf(at), isShown, text: at.outerHTML.slice(0, 120) };
})()`;

/** Presses Tab through the page. Returns the controls that are not reached in order, or that do not show the focus. */
async function missedByTab(page: Page): Promise<string[]> {
  await page.evaluate('document.activeElement?.blur(); scrollTo(0, 0)');
  const count = (await page.evaluate(controls)) as number;
  const missed: string[] = [];
  const reached: number[] = [];
  for (let presses = 0; presses < count * 2 + 20 && reached.at(-1) !== count - 1; presses++) {
    await page.keyboard.press('Tab');
    const look = async () => (await page.evaluate(focused)) as { index: number; isShown: boolean; text: string };
    let seen = await look();
    // The editor shows its focus a moment later.
    for (let waits = 0; !seen.isShown && waits < 40; waits++) {
      await page.waitForTimeout(50);
      seen = await look();
    }
    const { index, isShown, text } = seen;
    if (!isShown) missed.push(`no outline: ${text}`);
    // The fields of a date are stops of their own.
    if (index >= 0 && index !== reached.at(-1)) reached.push(index);
  }
  const expected = Array.from({ length: count }, (_, index) => index);
  if (String(reached) !== String(expected)) missed.push(`reached ${reached} of ${count}`);
  return missed;
}
