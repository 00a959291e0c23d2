/** Creates the link that opens the console signed in. */
import type { Component } from '../component/component.js';
import type { Settings } from '../settings/settings.js';

/** Returns the URL of the page for users; `undefined` if no enabled component has one. */
export function consolePageOf(
  baseUri: string,
  components: readonly Component[],
  settings: Settings,
): string | undefined {
  const path = components.find((each) => each.page && each.isEnabled(settings.of(each.settings)))?.page;
  return path === undefined ? undefined : baseUri + path;
}

/** Returns the link. The credential is in the fragment, which browsers do not send. */
export const signInLink = (page: string, credential: string): string => `${page}#token=${credential}`;
