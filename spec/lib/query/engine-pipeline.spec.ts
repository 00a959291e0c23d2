/** Both engines run the same actors, so that a query has the same result in the HTTP thread and in query threads. */
import { expect } from 'chai';
import { pipeline } from '../../../lib/query/pipeline.js';
import { composedPipeline } from '../../../lib/query/query-actors.js';
import { keepActors, stockPipeline } from '../../../lib/query/stock-engine.js';

const optimizers = ['describe-to-constructs-subject', 'assign-sources-exhaustive'];
const operators = ['source'];

describe('Actors of the query engines', () => {
  it('are describe-to-constructs-subject, assign-sources-exhaustive and source in both engines', () => {
    expect(stockPipeline).to.deep.equal({ optimizers, operators });
    expect(composedPipeline).to.deep.equal({ optimizers, operators });
    expect(pipeline).to.deep.equal({ optimizers, operators });
  });

  it('throws if an actor is missing after an upgrade of Comunica', () => {
    const actors = [{ name: 'urn:x#source' }, { name: 'urn:x#filter' }];
    const bus = {
      actors,
      unsubscribe: (actor: { readonly name: string }) => actors.splice(actors.indexOf(actor as never), 1).length > 0,
    };
    expect(() => keepActors(bus, ['source', 'assigner'])).to.throw("Comunica's engine has no actor named assigner.");
    expect(() => keepActors(undefined, ['source'])).to.throw("Comunica's engine has no actor named");
    expect(keepActors(bus, ['source'])).to.deep.equal(['source']);
    expect(actors).to.deep.equal([{ name: 'urn:x#source' }]);
  });
});
