/** The link that opens the storage in a browser, signed in. */
import type { Component } from '../component/contract.js';
import type { Settings } from '../settings.js';

/** The address of the page for people; `undefined` when no component that is on has one. */
export function consolePageOf(
  baseUri: string,
  components: readonly Component[],
  settings: Settings,
): string | undefined {
  const path = components.find((each) => each.page && each.isEnabled(settings.of(each.settings)))?.page;
  return path === undefined ? undefined : baseUri + path;
}

/** The fragment of a link does not leave the browser. */
export const signInLink = (page: string, credential: string): string => `${page}#token=${credential}`;
