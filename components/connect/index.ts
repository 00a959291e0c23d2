/** `quadpod connect`: a local proxy that authenticates requests of programs which do not support DPoP. */
import { defineComponent } from '../../lib/component/component.js';

export default defineComponent({
  name: 'connect',
  settings: {},
  isEnabled: () => true,
  install: () => ({}),
  commands: {
    connect: {
      help: 'run a local proxy that authenticates the requests of any program to a storage',
      operand: 'URL',
      flags: {
        key: 'FILE key of the identity (owner.key in lws.data-dir)',
        'new-key': 'FILE create a key and store it in this file',
        port: 'NUMBER port of 127.0.0.1 (default: a free one)',
      },
      switches: {
        'read-only': 'reject all requests except reads and queries',
        mcp: 'instead of a proxy, speak the Model Context Protocol on standard input and output, for an agent',
      },
      example: 'connect https://storage.example/ --key my.key --read-only',
      run: async (context) => (await import('./connect-command.js')).runConnect(context),
    },
  },
});
