/** Drives the page for SPARQL queries in a browser. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { axeFindingsInBothModes } from './browser.js';

/** Selector of the query tabs. */
export const queries = '[role=tablist][aria-label=Queries] [role=tab]';
/** Selector of the outcome message. */
export const said = '#query-panel .query > .row > [role=status]';
/** Selector of the query editor. */
export const queryText = '.cm-content';

/** Selects an action in the menu of the query. */
export async function choose(page: Page, action: string): Promise<void> {
  await page.click('#query-panel .opens');
  await page.click(`#query-panel .row-menu button:text-is("${action}")`);
}

/** Writes a query into a new tab. */
export async function write(page: Page, query: string): Promise<void> {
  await choose(page, 'New query');
  await page.click(queryText);
  await page.keyboard.insertText(query);
}

/** Runs the query of the open tab. @returns the outcome message */
export async function run(page: Page): Promise<string> {
  await page.click('button:text-is("Run")');
  return ended(page);
}

async function ended(page: Page): Promise<string> {
  const outcome = page.locator(said, { hasText: /row|triple|Answered|Refused/ });
  await outcome.waitFor();
  return (await outcome.textContent())!;
}

export async function ask(page: Page, query: string): Promise<string> {
  await write(page, query);
  return run(page);
}

/** Selects an example, which runs at once. @returns the outcome message */
export async function example(page: Page, name: string): Promise<string> {
  const list = page.locator('details.examples');
  if ((await list.getAttribute('open')) === null) await list.locator('summary').click();
  await list.locator('button', { hasText: name }).click();
  return ended(page);
}

export const showAs = (page: Page, view: string): Promise<void> => page.click(`[role=tab]:text-is("${view}")`);

export async function expectAccessible(page: Page): Promise<void> {
  expect(await axeFindingsInBothModes(page)).to.deep.equal([]);
}
