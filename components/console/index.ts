/** The console: the storage for people, in a browser (service.md, "Reserved paths"; `lws.console.*`, `lws.oidc.*`). */
import { defineComponent } from '../../lib/component.js';
import { flag, setting } from '../../lib/settings.js';

export default defineComponent({
  name: 'console',
  settings: {
    enabled: setting('lws.console.enabled', flag, true, 'Serve the console for browsers, at /app.'),
  },
  isEnabled: ({ enabled }) => enabled,
  page: '/app',
  async install(house) {
    const [{ fileRoutes }, { explainRoute }, { statusRoute }] = await Promise.all([
      import('./files.js'),
      import('./explain.js'),
      import('./status.js'),
    ]);
    return { routes: [...fileRoutes(), explainRoute(house), statusRoute(house)] };
  },
});
