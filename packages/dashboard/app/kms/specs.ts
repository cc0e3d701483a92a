import type { KmsSpec } from '@skerry/contract/kms/specs'

/** The labels of the key specs. */
export const specLabels: Record<KmsSpec, { main: string; below: string }> = {
  'aes-256-gcm': { main: 'encrypts', below: 'AES-256-GCM' },
  'ecdsa-p256-sha256': { main: 'signs', below: 'ECDSA P-256, SHA-256' },
  ed25519: { main: 'signs', below: 'Ed25519' },
}
