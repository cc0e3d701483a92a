import type { Bytes } from '@skerry/crypto/base64url'
import { fingerprint } from '@skerry/crypto/digest'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import type { EntryOf } from '@skerry/crypto/directory/proof'
import { verifyingKeyFingerprint } from '@skerry/crypto/kms-sign'
import type { Difference } from '@skerry/sdk/internal/directory/differences'
import { entryNames, entryWords } from '@skerry/sdk/internal/directory/words'
import type { ShownVersion } from '@skerry/sdk/internal/kms'
import { checkName, remember } from '../kms/pins.ts'
import { findPin } from '../known-keys.ts'
import { warn } from '../output.ts'
import { checkKnownNames } from '../places.ts'
import type { Session } from '../session.ts'

// A signature overrules the memory of every machine. A key or a name that this machine remembers otherwise must therefore be
// found before it is signed.

/** The keys that were opened to be signed, by the id of the environment or of the managed key. */
export interface OpenedKeys {
  environments: Map<string, Bytes>
  managed: Map<string, readonly ShownVersion[]>
}

export const noKeys = (): OpenedKeys => ({ environments: new Map(), managed: new Map() })

type Kinds = 'environment' | 'key' | 'worker'
type Entry<Kind extends Kinds> = EntryOf<Extract<DirectoryEntry['key'], `${Kind}/${string}`>>['value']

const valuesOf = <Kind extends Kinds>(kind: Kind, differences: readonly Difference[]) =>
  differences.flatMap(({ key, next }) =>
    key.startsWith(`${kind}/`) && next ? [{ name: key.slice(kind.length + 1), value: next as Entry<Kind> }] : [],
  )

/**
 * Compares environments and managed keys that are about to be signed with those that this machine remembers: their ids and
 * their keys. It warns of a worker with another key.
 *
 * @throws RollbackError, and Failure for a managed key.
 */
export async function requireRemembered(
  session: Session,
  orgId: string,
  differences: readonly Difference[],
  opened: OpenedKeys,
): Promise<void> {
  const named = valuesOf('environment', differences).map(({ name, value }) => ({ label: name, envId: value.id }))
  await checkKnownNames(session, orgId, named)
  const environments = named.flatMap(({ label, envId: environmentId }) => {
    const key = opened.environments.get(environmentId)
    return key ? [{ environmentId, label, key }] : []
  })
  await session.knownState.writing.check({ environments })
  for (const { name: id, value } of valuesOf('worker', differences)) {
    const known = findPin(session, orgId, id)
    // The operator may have replaced this key, and nobody can read out its words.
    if (known && (await fingerprint(known.publicKeyJwk)) !== value.kid)
      warn(
        `the server claims another key of the ${entryWords(`worker/${id}`, entryNames(null))} than this machine knows: ask the operator of the server if its key was replaced`,
      )
  }
  for (const { name, value } of valuesOf('key', differences)) {
    const shown = [...(opened.managed.get(value.id) ?? []), ...(await publicVersions(value))]
    checkName(session, orgId, { id: value.id, name })
    remember(session, orgId, { id: value.id, name }, { shown, currentVersion: value.versions.at(-1)?.version ?? 1 })
  }
}

/** The versions of a managed key that signs. The server claims their public keys. */
const publicVersions = ({ id: keyId, versions }: Entry<'key'>): Promise<ShownVersion[]> =>
  Promise.all(
    versions.flatMap((one) => {
      if (!('jwk' in one)) return []
      const spec = one.jwk.kty === 'OKP' ? 'ed25519' : 'ecdsa-p256-sha256'
      const shown = async (jwk: object) => ({
        keyId,
        version: one.version,
        fingerprint: await verifyingKeyFingerprint(spec, JSON.stringify(jwk)),
      })
      return [shown(one.jwk)]
    }),
  )
