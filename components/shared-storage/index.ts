/** Lets several servers share one storage, if `lws.store` names a PostgreSQL database. */
import { defineComponent } from '../../lib/plugin/component.js';

export default defineComponent({
  name: 'shared-storage',
  settings: {},
  isEnabled: () => true,
  install: () => ({}),
  async joinServers(address, options) {
    const { Cluster } = await import('./cluster.js');
    return Cluster.join(address, options);
  },
});
