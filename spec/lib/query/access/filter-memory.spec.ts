/** Memory of the filters of a query (section 14). */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const script = fileURLToPath(new URL('./filter-memory.js', import.meta.url));

describe('Memory of the filters of a query', () => {
  it('is freed by the next minor collection, with the request that they refer to (section 14)', () => {
    const printed = execFileSync(process.execPath, ['--expose-gc', script], { encoding: 'utf8' });
    const remaining = Object.entries(JSON.parse(printed) as Record<string, number>);
    expect(remaining).to.have.length(5);
    // What V8 keeps until a full collection takes more than 500 bytes for each query.
    for (const [scope, bytes] of remaining) expect(bytes, scope).to.be.lessThan(60);
  });
});
