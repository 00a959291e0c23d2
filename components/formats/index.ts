/** Exchange formats of other systems: BagIt, Community Solid Server, RO-Crate. */
import { defineComponent } from '../../lib/plugin/component.js';

export default defineComponent({
  name: 'formats',
  settings: {},
  isEnabled: () => true,
  formats: () => new URL('./formats.js', import.meta.url).href,
  install: () => ({}),
});
