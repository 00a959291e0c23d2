/** Routes and tools of the component. */

import type { Installation, Platform } from '../../lib/component/contract.js';
import { Slots } from '../../lib/component/slots.js';
import { jsonReply } from '../../lib/http/json-reply.js';
import { route } from '../../lib/http/route.js';
import { lws } from '../../lib/rdf/vocabulary.js';
import { AgentActivity } from './activity.js';
import { answerAgent } from './endpoint.js';
import { resourceTools } from './resource-tools.js';

interface Limits {
  readonly maxBytes: number;
  readonly concurrent: number;
}

export function install(platform: Platform, { maxBytes, concurrent }: Limits): Installation {
  const part = (share: number): number => Math.max(1, Math.floor(concurrent * share));
  const slots = new Slots(
    { controller: concurrent, known: concurrent, stranger: part(0.5) },
    `Too many calls of agents are in progress (lws.agents.max-concurrent is ${concurrent}). Retry later.`,
    { controller: concurrent, known: part(0.25), stranger: part(0.125) },
  );
  const activity = new AgentActivity(platform.clock);
  const endpoint = { platform, maxBytes, slots, activity };
  return {
    routes: [
      route('filtered', 'POST {prefix}/mcp', (request) => answerAgent(endpoint, request)),
      route('controller', 'GET HEAD {prefix}/agents', () => jsonReply(200, { callers: activity.all() })),
    ],
    services: [
      {
        type: `${lws.namespace}ModelContextProtocolService`,
        serviceEndpoint: `${platform.baseUri}${platform.systemPrefix}/mcp`,
      },
    ],
    tools: resourceTools(platform),
  };
}
