/** Namespaces and algorithm URIs of assertions (SAML 2.0 Core, XML Signature). */

export const assertionNamespace = 'urn:oasis:names:tc:SAML:2.0:assertion';
export const protocolNamespace = 'urn:oasis:names:tc:SAML:2.0:protocol';
export const signatureNamespace = 'http://www.w3.org/2000/09/xmldsig#';
/** Exclusive XML Canonicalization 1.0 without comments: URI of the algorithm, and namespace of its parameters. */
export const exclusiveCanonicalization = 'http://www.w3.org/2001/10/xml-exc-c14n#';
export const envelopedSignature = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';

export const xmlNamespace = 'http://www.w3.org/XML/1998/namespace';
export const xmlnsNamespace = 'http://www.w3.org/2000/xmlns/';
export const htmlNamespace = 'http://www.w3.org/1999/xhtml';
