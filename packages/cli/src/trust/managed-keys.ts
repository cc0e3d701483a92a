import { managedKeyCommitment } from '@skerry/crypto/directory/commitments'
import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import type { OpenedVersion } from '@skerry/sdk/internal/kms'
import { Failure } from '../failure.ts'
import { isStrict } from '../known-state.ts'
import { warn } from '../output.ts'
import type { Session } from '../session.ts'
import { trustOf } from './reading.ts'

/** Other names have no entry. */
const slug = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** A managed key as the server shows it, and the name or id by which the user named it. */
interface ShownKey {
  id: string
  name: string
  wanted: string
  /** Whether this machine has seen the key before. */
  isKnown: boolean
}

/**
 * Compares a managed key with its signed entry: its id, the versions that the caller uses, and the current version. A name
 * that no entry can have counts only if the user wrote it: the server could give any key such a name. Then only the memory of
 * this machine protects the key, and strict mode refuses a key that this machine has not seen.
 *
 * @throws Failure if one of them differs, or if there is no entry.
 */
export async function requireSignedKey(
  session: Session,
  orgId: string,
  { id, name, wanted, isKnown }: ShownKey,
  { opened, currentVersion }: { opened: readonly OpenedVersion[]; currentVersion: number },
): Promise<void> {
  if (!slug.test(name)) {
    if (name !== wanted)
      throw differs(`the server calls ${id} "${name}", and the signed directory has no key of such a name`)
    if (isKnown) return
    const told = `nobody can sign the managed key "${name}", because its name is no slug`
    if (isStrict()) throw new Failure('refused', told, 'create a key whose name consists of a-z, 0-9 and hyphens')
    warn(`${told}; the server could show its own key, and from now on only the memory of this machine protects you`)
    return
  }
  const key = `key/${name}` as const
  const entry = (await fetchEntries(session.client, orgId, [key], trustOf(session, orgId, 'read'))).get(key)
  if (!entry) throw differs(`the managed key ${name} is shown by the server, and is not in the signed directory`)
  const { versions } = entry.value
  if (entry.value.id !== id) throw differs(`${name} is another managed key in the signed directory`)
  const newest = versions.at(-1)?.version
  if (newest !== currentVersion)
    throw differs(`the server shows version ${currentVersion} of ${name} as the current one, and signed is ${newest}`)
  for (const { version, bytes, publicKeyJwk } of opened) {
    const signed = versions.find((one) => one.version === version)
    const isSame =
      signed === undefined
        ? false
        : 'commitment' in signed
          ? bytes !== undefined && (await managedKeyCommitment(id, version, bytes)) === signed.commitment
          : publicKeyJwk !== undefined && isSameKey(signed.jwk, JSON.parse(publicKeyJwk))
    if (!isSame) throw differs(`version ${version} of ${name} is not the key in the signed directory`)
  }
}

/** The id that a signer signed for a name; undefined for a name that no entry can have. */
export async function signedKeyId(session: Session, orgId: string, name: string): Promise<string | undefined> {
  if (!slug.test(name)) return undefined
  const key = `key/${name}` as const
  const entry = (await fetchEntries(session.client, orgId, [key], trustOf(session, orgId, 'read'))).get(key)
  if (!entry) throw differs(`there is no managed key ${name} in the signed directory`)
  return entry.value.id
}

const isSameKey = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, unknown>>): boolean =>
  ['kty', 'crv', 'x', 'y'].every((member) => one[member] === other[member])

const differs = (message: string): Failure =>
  new Failure('refused', message, 'if someone on your team changed this key, a signer runs `skerry trust sign`')
