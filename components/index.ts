/** The components that every installation has; `lws.components` adds others. */
import type { Component } from '../lib/component.js';
import authnSelfSigned from './authn-self-signed/index.js';

export const standardComponents: readonly Component[] = [authnSelfSigned as unknown as Component];
