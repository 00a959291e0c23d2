/** Shapes: writes must conform to the SHACL shapes to which the resource or its nearest container is linked. */
import { defineComponent } from '../../lib/component/component.js';
import { flag, setting } from '../../lib/settings/settings.js';

const settings = {
  enabled: setting(
    'lws.shapes.enabled',
    flag,
    true,
    'Apply the shapes (SHACL Core) that linksets name by ldp:constrainedBy to every write, and serve validation.',
    'storage',
  ),
};

export default defineComponent({
  name: 'shapes',
  settings,
  isEnabled: ({ enabled }) => enabled,
  async install(platform) {
    const { openShapes } = await import('./shapes.js');
    return openShapes(platform);
  },
  commands: {
    validate: {
      help: 'validate an RDF file against SHACL shapes in other files, without a server; exits with 1 for violations',
      operand: 'FILE',
      flags: { against: 'FILES RDF files with shapes, or directories of them, separated by commas' },
      example: 'validate data.ttl --against shapes.ttl',
      run: async (context) => (await import('./validate-command.js')).validateFile(context),
    },
  },
});
