import type { LeaseConfig, LeaseTag } from '@skerry/contract/leases/providers'
import { decodeUtf8, encodeBase64url, encodeUtf8 } from '@skerry/crypto/base64url'
import { sha256 } from '@skerry/crypto/digest'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import { clientError } from './errors.ts'

// Protects the admin credential of a target that a provisioner signs in to. It is wrapped together with a digest of the
// target's settings. If a server changes a host, a certificate or a statement, the credential does not open.

interface Sealed {
  v: 1
  adminSecret: string
  configDigest: string
}

/**
 * Wraps an admin credential, together with its target's settings, to the key of a provisioner's token. The server
 * cannot read it.
 *
 * @throws CryptoError `malformed_key`.
 * @example const wrappedAdminSecret = await sealAdminSecret({ adminSecret: 'postgres://...', config }, publicKeyJwk)
 */
export async function sealAdminSecret(
  { adminSecret, config }: { adminSecret: string; config: LeaseConfig<LeaseTag> },
  publicKeyJwk: string,
): Promise<string> {
  const sealed: Sealed = { v: 1, adminSecret, configDigest: await digestOf(config) }
  return wrapKey(encodeUtf8(JSON.stringify(sealed)), publicKeyJwk)
}

/**
 * Unwraps an admin credential. It opens only for the settings that it was wrapped with.
 *
 * @throws CryptoError if it was wrapped to another key; SkerryError `malformed_answer` if the settings differ.
 * @example
 * const wrapped = await sealAdminSecret({ adminSecret: 'postgres://...', config }, publicKeyJwk)
 * const adminSecret = await openAdminSecret(wrapped, config, privateKey)
 */
export async function openAdminSecret(wrapped: string, config: object, holder: KeyHolder): Promise<string> {
  const { adminSecret, configDigest } = parse(decodeUtf8(await unwrapKey(wrapped, holder)))
  if (configDigest !== (await digestOf(config)))
    throw clientError('malformed_answer', 'the lease target’s settings do not match its admin credential')
  return adminSecret
}

function parse(json: string): Sealed {
  try {
    const { v, adminSecret, configDigest } = JSON.parse(json)
    if (v === 1 && typeof adminSecret === 'string' && typeof configDigest === 'string')
      return { v, adminSecret, configDigest }
  } catch {
    // The parser's message may quote the credential, so the error below replaces it.
  }
  throw clientError('malformed_answer', 'the admin credential is not encrypted for a provisioner')
}

const digestOf = async (config: object): Promise<string> =>
  encodeBase64url(await sha256(encodeUtf8(JSON.stringify(sorted(config)))))

/** Sorts the members of each object, because a database does not keep their order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, sorted(member)] as const)
  return Object.fromEntries(members.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}
