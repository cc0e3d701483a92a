import { idPrefixes } from '@skerry/contract/prefixes'
import { fingerprint } from '@skerry/crypto/digest'
import { type Reader, readersHash } from '@skerry/crypto/directory/commitments'
import type { VerifiedDirectory } from '@skerry/crypto/directory/verify'
import type { Client } from '../client.ts'
import { RefusedError } from '../errors.ts'
import { mismatch } from './answer.ts'
import { fetchEntries, type OrgTrust } from './entries.ts'
import { isIn } from './readers.ts'
import { type WriterDirectory, writingTrust } from './writer.ts'
import { writtenName } from './written-name.ts'

// The signed directory says whose key is whose, and who may receive the key of an environment. A client that trusts the
// directory wraps a key to nobody else. The command line and the dashboard say refusals in their own words.

/** A person, a token or a worker to whom a key would be wrapped, as the server shows it. */
export interface Receiver {
  principalId: string
  /** The kind of principal. Without it, a receiver is a person or a token, and never a worker. */
  principalType?: string | undefined
  publicKeyJwk: string
  /** The name by which the user named this receiver; undefined if the user did not. */
  wantedName?: string | undefined
}

/** The result for one receiver: whether the directory lists it with this key, and under this name. */
export interface Listing<R extends Receiver = Receiver> {
  receiver: R
  state: 'listed' | 'unlisted' | 'other_key' | 'other_name'
  /** The address of a person or the name of a token in the directory. */
  name: string | undefined
  /** A worker without an entry is signed with its first use, unless the user named the receiver. */
  isWorker: boolean
}

type HolderKey = `${'person' | 'token' | 'worker'}/${string}`

/** The kinds of principals that hold keys: their entries, and the prefixes of their ids. */
const kinds = [
  { type: 'user', kind: 'person', prefix: idPrefixes.user },
  { type: 'service_token', kind: 'token', prefix: idPrefixes.serviceToken },
  { type: 'rotator', kind: 'worker', prefix: idPrefixes.organization },
  { type: 'sync_connection', kind: 'worker', prefix: idPrefixes.syncConnection },
] as const

/**
 * The key of the entry of a person, a token, or a worker. Undefined for an id that is not of the kind that the caller wants: a
 * server that shows a person under the id of a worker must not escape the comparison with the person's entry.
 */
function entryKeyOf({ principalType, principalId }: Receiver): HolderKey | undefined {
  const row = kinds.find(({ prefix }) => principalId.startsWith(prefix))
  const isRight = principalType === undefined ? row?.kind !== 'worker' : row?.type === principalType
  return row && isRight ? `${row.kind}/${principalId}` : undefined
}

/**
 * Compares receivers with their entries.
 *
 * @throws DirectoryError `directory_mismatch` for an id that is not of the kind of the receiver; the errors of `fetchEntries`.
 */
export async function listReceivers<R extends Receiver>(
  client: Client,
  orgId: string,
  receivers: readonly R[],
  trust: OrgTrust,
): Promise<{ verified: VerifiedDirectory; listings: Listing<R>[] }> {
  const keyed = receivers.map((receiver) => ({ receiver, key: entryKeyOf(receiver) }))
  const keys = keyed.map(({ key }) => key).filter((key) => key !== undefined)
  const entries = await fetchEntries(client, orgId, keys, trust)
  const listings = await Promise.all(
    keyed.map(async ({ receiver, key }): Promise<Listing<R>> => {
      if (key === undefined)
        throw mismatch(entries.verified, `the id of a ${kindWords(receiver)}`, receiver.principalId)
      const value = entries.get(key)?.value
      const isWorker = key.startsWith('worker/')
      if (!value) return { receiver, state: 'unlisted', name: undefined, isWorker }
      const name = 'email' in value ? value.email : 'name' in value ? value.name : undefined
      const isKey = value.kid === (await fingerprint(receiver.publicKeyJwk))
      return {
        receiver,
        state: !isKey ? 'other_key' : isWanted(key, name, receiver) ? 'listed' : 'other_name',
        name,
        isWorker,
      }
    }),
  )
  return { verified: entries.verified, listings }
}

const kindWords = ({ principalType }: Receiver): string =>
  kinds.find(({ type }) => type === principalType)?.kind ?? 'person or a token'

/** Workers have no name in the directory, so no name that the user wrote is theirs. */
const isWanted = (key: string, name: string | undefined, { wantedName }: Receiver) =>
  wantedName === undefined ||
  (key.startsWith('person/') ? name?.toLowerCase() === wantedName.toLowerCase() : name === wantedName)

/** `signed`: all readers are signed. `other`: the server lists other readers than a signer signed. */
type ReadersCheck<R> = { state: 'signed' } | { state: 'other' } | { state: 'stranger'; reader: R }

/**
 * Compares the readers of an environment that the server lists with those that a signer signed. Some of the signed ones may
 * be left out.
 *
 * @param name `app/env` or `group:env`.
 * @throws the errors of `fetchEntries`.
 */
export async function checkSignedReaders<R extends Receiver>(
  client: Client,
  { orgId, name, readers }: { orgId: string; name: string; readers: readonly R[] },
  trust: OrgTrust,
): Promise<ReadersCheck<R>> {
  const key = `environment/${name}` as const
  const entry = (await fetchEntries(client, orgId, [key], trust)).get(key)
  const receivers = await Promise.all(
    readers.map(async (one): Promise<Reader> => [entryKeyOf(one) ?? '', await fingerprint(one.publicKeyJwk)]),
  )
  if (entry && (await readersHash(receivers)) === entry.value.readers) return { state: 'signed' }
  // Some readers may be left out. The list that the server claims then has the signed hash, and contains the others.
  const claimed = await claimedReaders(client, orgId, key)
  if (!entry || claimed === undefined || (await readersHash(claimed)) !== entry.value.readers) return { state: 'other' }
  const isSigned = isIn(claimed)
  const stranger = receivers.findIndex((one) => !isSigned(one))
  return stranger < 0 ? { state: 'signed' } : { state: 'stranger', reader: readers[stranger] as R }
}

/** Only an admin may read claims. */
async function claimedReaders(client: Client, orgId: string, key: string) {
  try {
    const { claims } = await client.directory.claims({ params: { orgId }, query: { key: [key] } })
    return (claims[0]?.readers ?? undefined) as readonly Reader[] | undefined
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error
  }
}

/**
 * Refuses receivers whom the signed directory does not list with their key. Call it before a key is wrapped to them. A client
 * without pins and memory believes the server.
 *
 * @throws DirectoryError `directory_mismatch`; the errors of `fetchEntries`.
 */
export async function requireReceivers(
  client: Client,
  orgId: string,
  receivers: readonly Receiver[],
  directory: WriterDirectory,
): Promise<void> {
  const trust = await writingTrust(directory, orgId)
  if (!trust || receivers.length === 0) return
  const { verified, listings } = await listReceivers(client, orgId, receivers, trust)
  const wrong = listings.find(({ state }) => state !== 'listed')
  if (!wrong) return
  const expected = `${wrong.receiver.principalId}${wrong.state === 'unlisted' ? '' : ' with its signed key'}`
  throw mismatch(verified, expected, `the key ${await fingerprint(wrong.receiver.publicKeyJwk)}`)
}

/**
 * Refuses receivers of a new key of an environment, unless a signer signed each of them as its reader. A branch has no signed
 * readers, so its receivers must be listed.
 *
 * @throws DirectoryError `directory_mismatch`; the errors of `fetchEntries`.
 */
export async function requireReaders(
  client: Client,
  orgId: string,
  readers: readonly Receiver[],
  directory: WriterDirectory,
): Promise<void> {
  await requireReceivers(client, orgId, readers, directory)
  const trust = await writingTrust(directory, orgId)
  if (!trust) return
  const name = await writtenName(client, orgId, directory, trust)
  if (name.includes('@')) return
  const check = await checkSignedReaders(client, { orgId, name, readers }, trust)
  if (check.state === 'signed') return
  const { verified } = await fetchEntries(client, orgId, [], trust)
  const came = check.state === 'other' ? 'other readers' : check.reader.principalId
  throw mismatch(verified, `the signed readers of ${name}`, came)
}
