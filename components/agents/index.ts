/** Agents: offers tools to programs that use a language model, over the Model Context Protocol (rule 24.1). */
import { defineComponent } from '../../lib/component/component.js';
import { flag, integer, setting } from '../../lib/settings/settings.js';

const settings = {
  enabled: setting('lws.agents.enabled', flag, true, 'Offer tools to agents by the Model Context Protocol.', 'storage'),
  maxBytes: setting(
    'lws.agents.max-message-bytes',
    integer(1_000, 64 << 20),
    1 << 20,
    'Maximum size of a message of an agent, in bytes.',
  ),
  concurrent: setting(
    'lws.agents.max-concurrent',
    integer(1, 10_000),
    64,
    'Maximum concurrent calls of all agents with access; a quarter of it for one agent, and half of it for all other callers.',
  ),
};

export default defineComponent({
  name: 'agents',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform, { maxBytes, concurrent }) {
    const { install } = await import('./install.js');
    return install(platform, { maxBytes, concurrent });
  },
  commands: {
    agent: {
      help: 'add an agent with its own key and limited access, list agents, or remove one; the server must be running',
      operand: 'ACTION [NAME]',
      flags: {
        read: 'PATHS what the agent may read, separated by commas; a container includes everything in it',
        write: 'PATHS what it may read, create and change',
        until: 'DATE last day of its access (UTC)',
        key: 'FILE key of an owner (owner.key in lws.data-dir)',
      },
      example: 'agent add librarian --read /books/ --write /notes/ --until 2030-12-31',
      run: async (context) => (await import('./agent-command.js')).runAgent(context),
    },
  },
});
