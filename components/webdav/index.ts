/** WebDAV class 1 (RFC 4918): PROPFIND, PROPPATCH and MKCOL, for clients such as file managers and rclone (rule 25.1). */
import { defineComponent, flag, setting } from '../../lib/plugin/component.js';

const settings = {
  enabled: setting(
    'lws.webdav.enabled',
    flag,
    false,
    'Answer PROPFIND, PROPPATCH and MKCOL, for WebDAV clients such as rclone and file managers. DELETE of a container then includes its members.',
    'storage',
  ),
};

export default defineComponent({
  name: 'webdav',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform) {
    const { WebDav } = await import('./methods.js');
    const dav = new WebDav(platform);
    return {
      capabilities: [{ type: 'https://www.rfc-editor.org/info/rfc4918', complianceClass: ['1'] }],
      resourceMethods: {
        handlers: {
          PROPFIND: (request) => dav.propfind(request),
          PROPPATCH: (request) => dav.proppatch(request),
          MKCOL: (request) => dav.mkcol(request),
        },
        allowed: ['PROPFIND', 'PROPPATCH'],
        isWebDav: true,
        optionsFields: { DAV: '1' },
      },
    };
  },
});
