import { slugPattern } from '@skerry/contract/patterns'
import { fetchEntries, type OrgTrust, type VerifiedEntries } from '@skerry/sdk/internal/directory/entries'
import { openDocuments } from '@skerry/sdk/internal/directory/open'
import {
  checkSignedReaders,
  type Listing,
  listReceivers,
  type Receiver,
} from '@skerry/sdk/internal/directory/receivers'
import { findManifest } from '@skerry/sdk/internal/directory/signed-key'
import { api } from '../api.ts'
import { noteListed } from '../envs/listed-pins.ts'
import { comparedPin } from '../envs/pins.ts'
import { KeyringError, keyring } from '../keyring.ts'
import { queryClient } from '../queries.ts'
import { knownDirectory, rememberDirectory } from './known.ts'
import { readably } from './signatory.ts'

// Compares answers of the server with the signed directory that this browser knows. See `checks.ts`.

const trustOf = (): OrgTrust => ({
  pins: [],
  memory: {
    read: async (orgId) => knownDirectory(orgId),
    write: async (orgId, known) => rememberDirectory(orgId, known),
  },
  purpose: 'write',
})

/** The addresses of the people whose signature would have been accepted, by the hash of the root. */
const signers = new Map<string, string[]>()

async function signersOf(orgId: string, { root, known }: VerifiedEntries['verified']): Promise<string[]> {
  const found = signers.get(known.root.hash)
  if (found) return found
  const keys = root.signers.map((one) =>
    'person' in one ? (`person/${one.person}` as const) : (`token/${one.token}` as const),
  )
  const { get } = await fetchEntries(api, orgId, keys, trustOf())
  const names = [...new Set(keys.map((key) => nameIn(get(key)?.value) ?? key))]
  signers.set(known.root.hash, names)
  return names
}

const nameIn = (value: object | undefined): string | undefined => {
  const { email, name } = (value ?? {}) as { email?: string; name?: string }
  return email ?? name
}

async function refusal(orgId: string, what: string): Promise<KeyringError> {
  const { verified } = await fetchEntries(api, orgId, [], trustOf())
  const names = (await signersOf(orgId, verified)).join(', ')
  const text = `${what}. Only a signer could have changed this: ${names}. Nothing was sent`
  return new KeyringError('directory_mismatch', text)
}

export const requireListed = (orgId: string, receivers: readonly Receiver[]): Promise<void> =>
  readably(async () => {
    const { listings } = await listReceivers(api, orgId, receivers, trustOf())
    for (const listing of listings) {
      if (listing.state === 'listed') continue
      // A worker without an entry is signed with its first use. A signer who compared the words signs a person or a token.
      if (listing.state !== 'unlisted' || !(listing.isWorker || (await isSigner(orgId))))
        throw await refusal(orgId, wordsOf(listing))
      if (comparedPin(listing.receiver.principalId)?.wasListed) throw await refusal(orgId, endedWords(listing.receiver))
    }
    noteListed(listings.filter(({ state }) => state === 'listed').map(({ receiver }) => receiver.principalId))
  })

/** The refusal of a receiver whose key this browser knows, and whose entry a signer has ended since. */
const endedWords = ({ principalId }: Receiver): string =>
  `${principalId} was in the signed directory, and is there no longer. If your team added this person again, compare the words on the page Members`

function wordsOf({ receiver: { principalId }, state, name }: Listing): string {
  if (state === 'unlisted')
    return `The signed directory does not list ${principalId}, to whom the server would give a key`
  return `The server shows another key of ${name ?? principalId} than the one in the signed directory`
}

/** The server could call anybody a signer, so the key decides. */
async function isSigner(orgId: string): Promise<boolean> {
  const [{ signer }, documents] = await Promise.all([
    keyring.call('directorySigner', {}),
    openDocuments(api, orgId, { known: knownDirectory(orgId), pins: [] }),
  ])
  return documents?.root.body.signers.some(({ kid }) => kid === signer.kid) ?? false
}

export const requireReaders = (
  orgId: string,
  environmentId: string,
  ownId: string,
  others: readonly Receiver[],
): Promise<void> =>
  readably(async () => {
    await requireListed(orgId, others)
    const name = await nameOf(orgId, environmentId)
    // Nobody signs the readers of a branch. Its manifest shows that it is one.
    if (name === null) return requireIn(orgId, [environmentId])
    const { publicKeyJwk } = await api.me.getKeys({})
    const own = publicKeyJwk === null ? [] : [{ principalType: 'user', principalId: ownId, publicKeyJwk }]
    const check = await checkSignedReaders(api, { orgId, name, readers: [...own, ...others] }, trustOf())
    if (check.state === 'other')
      throw await refusal(orgId, `The server lists other readers of ${name} than the signed directory`)
    if (check.state === 'stranger')
      throw await refusal(
        orgId,
        `The signed directory does not list ${check.reader.principalId} as a reader of ${name}`,
      )
    // The hash of the readers may still have somebody whose entry has ended, and whom a signer would accept as a new one.
    const { listings } = await listReceivers(api, orgId, others, trustOf())
    const gone = listings.find(({ state }) => state !== 'listed')
    if (gone) throw await refusal(orgId, wordsOf(gone))
  })

/** The signed entry of a managed key. A name that is no slug has none, and a server could give any key such a name. */
async function managedEntry(orgId: string, { id, name }: { id: string; name: string }) {
  if (!new RegExp(slugPattern).test(name))
    throw await refusal(orgId, `The signed directory can have no managed key with the name “${name}”`)
  const key = `key/${name}` as const
  const entry = (await fetchEntries(api, orgId, [key], trustOf())).get(key)?.value
  if (entry?.id !== id) throw await refusal(orgId, `The signed directory has another managed key ${name}, or none`)
  return entry
}

export const requireManagedName = (orgId: string, key: { id: string; name: string }): Promise<void> =>
  readably(async () => void (await managedEntry(orgId, key)))

export const requireManagedKey = (
  orgId: string,
  { id, name, version }: { id: string; name: string; version: number },
  blob: string,
): Promise<void> =>
  readably(async () => {
    const { versions } = await managedEntry(orgId, { id, name })
    const signed = versions.at(-1)
    if (signed?.version !== version)
      throw await refusal(
        orgId,
        `The server shows version ${version} of ${name} as the current one, and not the signed one`,
      )
    // A key that signs has its public key in the entry, and the private one is compared with it by the readers.
    if ('jwk' in signed) return
    const commitment = await keyring.call('managedCommitment', { id, version, blob })
    if (signed.commitment !== commitment)
      throw await refusal(orgId, `The server gave another key for version ${version} of ${name} than the signed one`)
  })

export const requirePolicySigner = (orgId: string): Promise<void> =>
  readably(async () => {
    const [{ ownKid }, { verified }] = await Promise.all([
      keyring.call('directorySigner', {}),
      fetchEntries(api, orgId, [], trustOf()),
    ])
    if (verified.root.signers.some(({ policyKid }) => policyKid === ownKid)) return
    const names = (await signersOf(orgId, verified)).join(', ')
    throw new KeyringError(
      'directory_mismatch',
      `Proxies would refuse this policy, because you do not sign the directory. These signers can publish it: ${names}. Nothing was sent`,
    )
  })

export const requireSignedKeys = (environments: readonly { id: string; orgId: string | undefined }[]): Promise<void> =>
  readably(async () => {
    const placed = environments.map(({ id, orgId = orgOf(id) }) => ({ id, orgId }))
    for (const [orgId, all] of Map.groupBy(placed, (one) => one.orgId)) {
      if (orgId === undefined)
        throw new KeyringError('directory_unproven', 'This page cannot find the signed entry of this environment')
      if (knownDirectory(orgId) !== null) await requireIn(orgId, [...new Set(all.map(({ id }) => id))])
    }
  })

async function requireIn(orgId: string, ids: readonly string[]): Promise<void> {
  const branches = (await Promise.all(ids.map((id) => branchOf(orgId, id)))).filter((one) => one !== null)
  const parents = branches.map(({ parentId }) => parentId)
  const wanted = [...new Set([...ids, ...parents])].filter((id) => !branches.some((branch) => branch.id === id))
  const own = await Promise.all(
    wanted.map(async (id) => {
      const name = (await nameOf(orgId, id)) ?? ''
      return { id, name, key: `environment/${name}` as const }
    }),
  )
  const entries = await fetchEntries(
    api,
    orgId,
    own.map(({ key }) => key),
    trustOf(),
  )
  const ofRoot = await signersOf(orgId, entries.verified)
  const all = []
  for (const { id: environmentId, name, key } of own) {
    const value = entries.get(key)?.value
    if (!value) throw await refusal(orgId, `The signed directory has no environment ${name}, which the server shows`)
    if (value.id !== environmentId)
      throw await refusal(
        orgId,
        `The signed directory says that ${name} is ${value.id}, and the server shows ${environmentId}`,
      )
    all.push({ environmentId, name, commitment: value.key, signers: ofRoot })
  }
  // An unlocked keyring has its final worker: unlocking may join that of another tab, which knows nothing of this.
  await keyring.call('noteCommitted', { all })
  for (const branch of branches) await noteBranch(orgId, branch)
}

interface Branch {
  id: string
  slug: string
  parentId: string
}

/** The branch with this id; null for an environment that is no branch. */
async function branchOf(orgId: string, envId: string): Promise<Branch | null> {
  if ((await nameOf(orgId, envId)) !== null) return null
  const { slug, parentEnvironmentId } = (await api.envs.get({ params: { orgId, envId } })).environment
  return { id: envId, slug, parentId: parentEnvironmentId ?? '' }
}

/** A branch has no entry. The keyring's worker verifies its manifest with the signed key of its parent. */
async function noteBranch(orgId: string, { id, slug, parentId }: Branch): Promise<void> {
  const params = { orgId, envId: parentId }
  const [{ wrappedDek }, manifest] = await Promise.all([api.grants.own({ params }), findManifest(api, params, slug)])
  await keyring.call('noteBranch', {
    environmentId: id,
    slug,
    manifest,
    parent: { environmentId: parentId, wrappedDek },
  })
}

/** The names of environments by their ids. A slug is fixed. */
const names = new Map<string, string | null>()

/** The name of an environment in the directory; null for a branch, which has no entry. */
async function nameOf(orgId: string, envId: string): Promise<string | null> {
  const known = names.get(envId)
  if (known !== undefined) return known
  const { environment } = await api.envs.get({ params: { orgId, envId } })
  const name =
    environment.parentEnvironmentId === null ? `${await ownerOf(orgId, environment)}${environment.slug}` : null
  names.set(envId, name)
  return name
}

type Owned = { applicationId: string | null; groupId: string | null }

async function ownerOf(orgId: string, { applicationId: appId, groupId }: Owned): Promise<string> {
  if (appId !== null) return `${(await api.apps.get({ params: { orgId, appId } })).app.slug}/`
  return `${(await api.groups.get({ params: { orgId, groupId: groupId ?? '' } })).group.slug}:`
}

/** The organization of an environment that the page has asked the server about. */
function orgOf(envId: string): string | undefined {
  for (const { queryKey } of queryClient.getQueryCache().getAll()) {
    const [orgs, orgId, envs, id] = queryKey
    if (orgs === 'orgs' && envs === 'envs' && id === envId && typeof orgId === 'string') return orgId
  }
}
