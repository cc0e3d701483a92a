/** The purpose of each spec of a managed key. A new spec needs a row here and a row in crypto. */
export const kmsSpecs = {
  'aes-256-gcm': { purpose: 'encrypt' },
  'ecdsa-p256-sha256': { purpose: 'sign' },
  ed25519: { purpose: 'sign' },
} as const

export type KmsSpec = keyof typeof kmsSpecs
export type KmsPurpose = (typeof kmsSpecs)[KmsSpec]['purpose']
