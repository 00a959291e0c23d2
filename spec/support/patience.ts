/** With everything running at once a machine is loaded: then a limit only has to end what hangs. */
import { isThorough } from './speed.js';

const factor = isThorough ? 4 : 1;

export const mochaHooks = {
  beforeEach(this: Mocha.Context): void {
    const spec = this.currentTest;
    if (spec) spec.timeout(spec.timeout() * factor);
  },
};
