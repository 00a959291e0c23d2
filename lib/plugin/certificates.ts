/** Plug-in API: sources of TLS certificates. */
export {
  type CertificateEquipment,
  type CertificateSource,
  type ChallengeAnswers,
  type KeyPair,
  keyPair,
  type TlsFacts,
} from '../component/certificates.js';
export { writeWhole } from '../storage/level/synced-files.js';
