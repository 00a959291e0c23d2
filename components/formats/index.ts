/** Exchange formats of others: BagIt, Community Solid Server, RO-Crate, web pages. */
import { defineComponent } from '../../lib/component/basics.js';

export default defineComponent({
  name: 'formats',
  settings: {},
  isEnabled: () => true,
  formats: () => new URL('./formats.js', import.meta.url).href,
  install: () => ({}),
});
