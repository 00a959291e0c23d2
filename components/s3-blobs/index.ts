/** The contents of JSON and binary resources in an S3 store, where `lws.blobs` names a bucket. */
import { defineComponent } from '../../lib/component/basics.js';
import { blobSettings, s3AddressOf } from './settings.js';

export default defineComponent({
  name: 's3-blobs',
  settings: blobSettings,
  isEnabled: ({ blobs }) => blobs !== null,
  install: () => ({}),
  blobs(settings) {
    const address = s3AddressOf(settings);
    if (address === undefined) return undefined;
    const { endpoint, bucket, prefix } = address;
    return { module: new URL('s3-blobs.js', import.meta.url).href, id: [endpoint, bucket, prefix].join(' '), address };
  },
});
