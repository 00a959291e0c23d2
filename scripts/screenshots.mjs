/**
 * Takes the screenshots of the documentation anew: `node scripts/screenshots.mjs [NAME ...]` after a build, with Chromium
 * (`CHROMIUM`, or a usual path). A server is filled with example data. Dates, ports, identities and durations are replaced by
 * fixed ones, so that images differ only if the console does.
 */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Console } from '../dist/spec/support/browser.js';
import { fillResearchGroup } from '../dist/spec/support/research-group.js';

const docs = fileURLToPath(new URL('../docs/', import.meta.url));
const size = { width: 1100, height: 700 };
const sofia = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';

/** Runs in the page. */
const fixed = ({ from, to, did }) => {
  const replaced = (text) =>
    text
      .replaceAll(from, to)
      .replace(/did:key:z\w+…\w+/g, 'did:key:z6Mkha…ta2doK')
      .replace(/did:key:z\w{20,}/g, did)
      .replace(/\b[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d\s[AP]M/g, 'Mar 2, 2026, 9:30 AM')
      .replace(/ in [\d.]+ m?s\b/g, ' in 20 ms');
  const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    const text = replaced(node.data);
    if (text !== node.data) node.data = text;
  }
  for (const input of document.querySelectorAll('input'))
    if (input.type === 'datetime-local' && input.value) input.value = '2026-03-09T09:30';
    else if (input.type !== 'file') input.value = replaced(input.value);
};

/** Each goes to its page, and waits for what is shown. */
const shots = {
  async browse(page, at) {
    await page.goto(at('browse'));
    await page.getByLabel('Select README.md').check();
    await page.getByRole('heading', { name: 'River temperatures' }).waitFor();
  },
  async 'edit-dark'(page, at) {
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.goto(at('resource', 'people/ada-okafor.ttl'));
    await page.getByRole('tab', { name: 'Source' }).click();
    await page.locator('.cm-content').getByText('foaf:knows').waitFor();
  },
  async table(page, at) {
    await page.goto(at('resource', 'measurements/stations.ttl'));
    await page.locator('.triples').getByText('Rhine at Basel').first().waitFor();
  },
  async search(page, at) {
    await page.goto(`${at('search')}?q=temperature*`);
    await page.locator('.hits mark').first().waitFor();
    await page.locator('.facets').getByText('Dataset').waitFor();
  },
  async ask(page, at) {
    await page.goto(`${at('ask')}?from=${encodeURIComponent(at.iri('queries/temperatures.rq'))}`);
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('tab', { name: 'Chart' }).click();
    await page.locator('.uplot canvas').waitFor();
    await page.locator('.chart').scrollIntoViewIfNeeded();
  },
  async share(page, at) {
    await page.goto(at('sharing', 'people/'));
    await page.getByLabel('Person, by name or address').fill(sofia);
    await page.locator('.give summary').click();
    await page.getByLabel('Call them (optional)').fill('Sofia Rossi');
    await page.getByRole('button', { name: 'Give access' }).click();
    await page.locator('share-grants').getByText('Sofia Rossi').waitFor();
    await page.locator('.give summary').click();
    await page.evaluate(() => scrollTo(0, 0));
  },
};

const chosen = process.argv.slice(2);
const console_ = new Console();
await console_.start({ settings: { 'text-search.enabled': 'true' } });
try {
  const { root, ownerToken } = console_.server;
  await fillResearchGroup(root, ownerToken);
  const iri = (name) => root + name;
  const at = Object.assign(
    (page, name) => console_.at(name === undefined ? page : `${page}?at=${encodeURIComponent(iri(name))}`),
    { iri },
  );
  mkdirSync(docs, { recursive: true });
  for (const [name, show] of Object.entries(shots)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue;
    const page = await console_.owner({ viewport: size, locale: 'en-US', timezoneId: 'UTC', reducedMotion: 'reduce' });
    await show(page, at);
    await page.evaluate(() => document.querySelector('body > .notices')?.remove());
    await page.evaluate(() => document.activeElement?.blur());
    await page.waitForTimeout(1000);
    await page.evaluate(fixed, { from: new URL(root).host, to: 'localhost:3000', did: sofia });
    await page.screenshot({ path: `${docs}${name}.png` });
    await page.context().close();
  }
} finally {
  await console_.stop();
}
// Worker threads and timers of the server in this process.
process.exit(0);
