import { fingerprint } from '@skerry/crypto/digest'
import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'
import { fetchEntries } from '@skerry/sdk/internal/directory/entries'
import { Failure, toFailure } from '../failure.ts'
import { committedLabel } from '../known-directories.ts'
import type { Session } from '../session.ts'
import { isSigner } from './open.ts'
import { trustOf } from './reading.ts'

// The signed directory says whose key is whose, and who may receive the key of an environment. In an organization whose
// directory this machine knows, a key is wrapped to nobody else.

/** A person, a token or a worker to whom a key would be wrapped, as the server shows it. */
interface Receiver {
  principalId: string
  name: string | null
  publicKeyJwk: string
  /** The name by which the user named this receiver; undefined if the user wrote the id. */
  wantedName?: string | undefined
}

/** The key of the entry of a person, a token, or a worker. */
function entryKeyOf({ principalId }: Pick<Receiver, 'principalId'>): `${'person' | 'token' | 'worker'}/${string}` {
  if (principalId.startsWith('usr_')) return `person/${principalId}`
  return principalId.startsWith('skt_') ? `token/${principalId}` : `worker/${principalId}`
}

/**
 * Refuses a receiver whom the signed directory does not list with this key, or lists under another name than the user
 * wrote.
 *
 * @returns the ids of the receivers whom the directory vouches for. Nobody needs to compare their words. A worker that has
 *   no entry yet is not among them: its first use signs it. Nor is, for a signer, a person or a token without an entry.
 */
export async function requireListed(
  session: Session,
  orgId: string,
  grantees: readonly Receiver[],
): Promise<ReadonlySet<string>> {
  const keys = grantees.map(entryKeyOf)
  const entries = await fetchEntries(session.client, orgId, keys, trustOf(session, orgId, 'write'))
  const vouched = new Set<string>()
  for (const grantee of grantees) {
    const key = entryKeyOf(grantee)
    const value = entries.get(key)?.value
    if (!value && key.startsWith('worker/')) continue
    // A signer who compares the words of the key signs the entry together with the change.
    if (!value && (await isSigner(session, orgId))) continue
    if (!value) throw notListed(grantee, 'is not in the signed directory')
    const name = 'email' in value ? value.email : 'name' in value ? value.name : undefined
    if (value.kid !== (await fingerprint(grantee.publicKeyJwk)))
      throw notListed({ ...grantee, name: name ?? grantee.name }, 'has another key in the signed directory')
    if (grantee.wantedName !== undefined && name !== undefined && !isSame(key, name, grantee.wantedName))
      throw notListed(grantee, `is called ${name} in the signed directory, not ${grantee.wantedName}`)
    vouched.add(grantee.principalId)
  }
  return vouched
}

const isSame = (key: string, name: string, wanted: string) =>
  key.startsWith('person/') ? name.toLowerCase() === wanted.toLowerCase() : name === wanted

function notListed({ name, wantedName, principalId }: Receiver, why: string): Failure {
  const called = wantedName ?? name
  const label = called === null || called === principalId ? principalId : `${called} (${principalId})`
  return new Failure(
    'refused',
    `${label}, shown by the server, ${why}; nothing was changed`,
    'if someone on your team added this reader, a signer compares the words and runs `skerry trust sign`',
  )
}

/**
 * Refuses the readers of an environment that the server lists, unless they are those that a signer signed.
 *
 * @returns false if the directory says nothing about the readers of this key, such as those of a branch.
 */
export async function requireSignedReaders(
  session: Session,
  { orgId, id, readers }: { orgId: string; id: string; readers: readonly Receiver[] },
): Promise<boolean> {
  const label = committedLabel(id)
  if (label === undefined) return false
  const key = `environment/${label}` as const
  const entry = (await fetchEntries(session.client, orgId, [key], trustOf(session, orgId, 'write'))).get(key)
  const receivers = await Promise.all(
    readers.map(async (one): Promise<Reader> => [entryKeyOf(one), await fingerprint(one.publicKeyJwk)]),
  )
  if (entry && (await readersHash(receivers)) === entry.value.readers) return true
  // Some readers may be left out. The list that the server claims then has the signed hash, and contains the others.
  const claimed = await claimedReaders(session, orgId, key)
  if (!entry || claimed === undefined || (await readersHash(claimed)) !== entry.value.readers)
    throw new Failure(
      'refused',
      `the readers of ${label}, shown by the server, are not those in the signed directory; nothing was changed`,
      'see the difference with `skerry trust status`; if someone on your team made it, a signer runs `skerry trust sign`',
    )
  const isSigned = ([one, kid]: Reader) => claimed.some(([other, signed]) => one === other && kid === signed)
  const stranger = receivers.findIndex((one) => !isSigned(one))
  if (stranger >= 0) throw notListed(readers[stranger]!, `is no reader of ${label} in the signed directory`)
  return true
}

/** Only an admin may read claims. */
async function claimedReaders(session: Session, orgId: string, key: `environment/${string}`) {
  try {
    const { claims } = await session.client.directory.claims({ params: { orgId }, query: { key: [key] } })
    return (claims[0]?.readers ?? undefined) as readonly Reader[] | undefined
  } catch (error) {
    if (toFailure(error).kind !== 'refused') throw error
  }
}
