import { limits } from '@skerry/contract/limits'
import { slugPattern } from '@skerry/contract/patterns'
import { idPrefixes } from '@skerry/contract/prefixes'
import { fingerprint } from '@skerry/crypto/digest'
import type { EntryOf } from '@skerry/crypto/directory/proof'
import type { RootSigner } from '@skerry/crypto/directory/root'
import { SkerryError } from '../errors.ts'
import { pagesOf } from '../pages.ts'
import { type DirectoryDraft, entryKeyOf, type Principal } from './draft.ts'
import { ownerOf, requireEnvironment, requireHolder } from './named.ts'

// The steps that edits share. Each takes the ids that the API names.

type EnvironmentKey = `environment/${string}`
type Version = EntryOf<`key/${string}`>['value']['versions'][number]
type Grant = Principal & { wrappedDek?: string; wrappedKey?: string }

const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1)

export async function addReader(draft: DirectoryDraft, environmentId: string, principal: Principal): Promise<void> {
  const key = draft.environmentKey(environmentId)
  if (key === undefined) return
  const reader = await draft.reader(principal, key)
  if (reader === null) draft.unsigned.add(key)
  else await draft.changeReaders(key, (all) => [...all.filter(([other]) => other !== reader[0]), reader])
}

export async function removeGrant(draft: DirectoryDraft, environmentId: string, grantId: string): Promise<void> {
  const key = draft.environmentKey(environmentId)
  if (key === undefined) return
  const { holderId } = draft.typed
  const ended = holderId === undefined ? await holderOf(draft, environmentId, grantId) : entryKeyOfId(holderId)
  if (ended === undefined) {
    draft.unsigned.add(key)
    return
  }
  requireHolder(draft, ended)
  await draft.changeReaders(key, (all) => all.filter(([other]) => other !== ended))
}

/** The key of the entry of the holder of a grant, as the server lists it; undefined if it lists no such grant. */
async function holderOf(draft: DirectoryDraft, envId: string, grantId: string): Promise<string | undefined> {
  const { client, orgId } = draft.context
  const read = (page: object) =>
    client.grants.list({ params: { orgId, envId }, query: { limit: limits.listMax, ...page } })
  for await (const { grants } of pagesOf(read)) {
    const holder = grants.find(({ id }) => id === grantId)
    if (holder) return entryKeyOf(holder, orgId)
  }
  return undefined
}

/** The key of the entry of a holder. The rotator's id is that of its organization. */
function entryKeyOfId(id: string): string {
  if (id.startsWith(idPrefixes.user)) return `person/${id}`
  return `${id.startsWith(idPrefixes.serviceToken) ? 'token' : 'worker'}/${id}`
}

/** Signs a new key of an environment, which this client made and wrapped to these readers. */
export async function replaceKey(draft: DirectoryDraft, key: EnvironmentKey, grants: readonly Grant[]): Promise<void> {
  const own = ownGrant(draft, grants)
  if (own === undefined) draft.unsigned.add(key)
  else await setKey(draft, key, (id) => draft.context.commitments.environment(id, own), grants)
}

/** Signs a key of an environment that this client has seen, and its readers. `commit` makes the commitment to the key. */
export async function setKey(
  draft: DirectoryDraft,
  key: EnvironmentKey,
  commit: (environmentId: string) => Promise<string>,
  readers: readonly Principal[],
): Promise<void> {
  const entry = draft.valueOf(key)
  const hash = await draft.setReaders(key, readers)
  if (!entry || hash === null) draft.unsigned.add(key)
  else draft.set(key, { ...entry, key: await commit(entry.id), readers: hash })
}

const ownGrant = ({ context: { own, orgId } }: DirectoryDraft, grants: readonly Grant[]): string | undefined => {
  const grant = grants.find((one) => entryKeyOf(one, orgId) === own)
  return grant?.wrappedDek ?? grant?.wrappedKey
}

/**
 * Signs an environment that the caller has just made. Nobody else has its key, and it includes no group.
 *
 * @returns false if the name or the id belongs to a signed environment: a new one has neither.
 */
export async function addEnvironment(
  draft: DirectoryDraft,
  name: string,
  id: string,
  wrappedDek: string,
): Promise<boolean> {
  const { own, ownKid, commitments } = draft.context
  const key = `environment/${name}` as const
  if (draft.valueOf(key) !== undefined || draft.environmentKey(id) !== undefined) {
    draft.unsigned.add(key)
    return false
  }
  draft.set(key, {
    id,
    key: await commitments.environment(id, wrappedDek),
    layers: [],
    readers: '',
  })
  await draft.addOwnReader(key, [own, ownKid])
  return true
}

/**
 * Leaves environments unsigned that the server says to include a new environment of a group. The server could name any
 * environment, so a signer reads and signs the groups of each one.
 */
export async function leaveLayer(draft: DirectoryDraft, layer: string): Promise<void> {
  const slug = layer.slice(layer.indexOf(':') + 1)
  const keys = [...draft.all<EnvironmentKey>('environment/')]
    .map(([key]) => key)
    .filter((key) => key.endsWith(`/${slug}`))
  await draft.claims(keys)
  for (const key of keys) {
    const claimed = draft.claimOf(key)?.value?.layers
    if (isNames(claimed) && claimed.includes(layer)) draft.unsigned.add(key)
  }
}

const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

export async function endEnvironment(draft: DirectoryDraft, environmentId: string): Promise<void> {
  const key = draft.environmentKey(environmentId)
  if (key !== undefined) {
    requireEnvironment(draft, nameOf(key))
    return draft.endEnvironments((name) => name === nameOf(key))
  }
  // A branch has no entry, but its tokens have.
  const tokens = await tokensBoundTo(draft, environmentId)
  const [parent] = (draft.typed.environment ?? '').split('@', 1)
  await draft.endPrincipals(tokens.filter((one) => isBoundTo(draft, one, parent)))
}

async function tokensBoundTo(draft: DirectoryDraft, environmentId: string) {
  const { client, orgId } = draft.context
  const { tokens } = await client.tokens.list({ params: { orgId } })
  return tokens.filter((one) => one.environmentId === environmentId).map(({ id }) => `token/${id}` as const)
}

/** The entry of a token has the parent of the branch. The server could call any token bound to the branch. */
function isBoundTo(draft: DirectoryDraft, token: `token/${string}`, parent: string | undefined): boolean {
  const signed = draft.valueOf(token)?.environment ?? null
  return signed !== null && (!parent || signed === parent)
}

/**
 * The name that the entry of a token has for the environment that it is bound to; a branch counts as its parent. Returns
 * undefined if nobody signed the environment.
 */
export async function nameOfBound(
  draft: DirectoryDraft,
  environmentId: string | null,
): Promise<string | null | undefined> {
  if (environmentId === null) return null
  const key = draft.environmentKey(environmentId)
  if (key !== undefined) return nameOf(key)
  const { client, orgId } = draft.context
  const { environment } = await client.envs.get({ params: { orgId, envId: environmentId } })
  const parent = environment.parentEnvironmentId && draft.environmentKey(environment.parentEnvironmentId)
  return parent ? nameOf(parent) : undefined
}

interface Composed {
  groupId: string
  slug: string
  position: number
}

const listGroups = async (
  { context: { client, orgId } }: DirectoryDraft,
  envId: string,
): Promise<readonly Composed[]> => (await client.composition.list({ params: { orgId, envId } })).groups

export async function compose(
  draft: DirectoryDraft,
  envId: string,
  { groupId, position }: { groupId: string; position?: number },
): Promise<void> {
  const groups = await listGroups(draft, envId)
  const known = groups.find((one) => one.groupId === groupId)
  const { client, orgId } = draft.context
  const slug = ownerOf(draft, known?.slug ?? (await client.groups.get({ params: { orgId, groupId } })).group.slug)
  const last = Math.max(-1, ...groups.map((one) => one.position))
  const placed = { groupId, slug, position: position ?? known?.position ?? last + 1 }
  await setLayers(draft, envId, [...groups.filter((one) => one.groupId !== groupId), placed], slug)
}

export async function decompose(draft: DirectoryDraft, envId: string, groupId: string): Promise<void> {
  const groups = await listGroups(draft, envId)
  const shown = groups.find((one) => one.groupId === groupId)?.slug
  const slug = shown === undefined ? draft.typed.owner : ownerOf(draft, shown)
  if (slug === undefined) {
    const key = draft.environmentKey(envId)
    if (key !== undefined) draft.unsigned.add(key)
    return
  }
  const rest = groups.filter((one) => one.groupId !== groupId && one.slug !== slug)
  await setLayers(draft, envId, rest, slug)
}

/** Changes the place of one group. All other layers must be as they were signed. */
async function setLayers(
  draft: DirectoryDraft,
  envId: string,
  groups: readonly Composed[],
  changed: string,
): Promise<void> {
  const key = draft.environmentKey(envId)
  const value = key && draft.valueOf(key)
  if (!key || !value) return
  const slug = key.slice(key.lastIndexOf('/') + 1)
  const names = groups
    .toSorted((one, other) => one.position - other.position || (one.slug < other.slug ? -1 : 1))
    .map((group) => `${group.slug}:${slug}`)
  await draft.claims(names.map((name) => `environment/${name}`))
  const layers = names.filter((name) => draft.claimOf(`environment/${name}`) !== undefined)
  const others = (all: readonly string[]) => all.filter((name) => name !== `${changed}:${slug}`).join()
  if (others(layers) === others(value.layers)) draft.set(key, { ...value, layers })
  else draft.unsigned.add(key)
}

/** Adds the rotator or a sync connection, to which the caller has wrapped the keys of these environments. */
export async function addWorker(
  draft: DirectoryDraft,
  environments: readonly { environmentId: string }[],
  worker: Principal,
): Promise<void> {
  for (const { environmentId } of environments) await addReader(draft, environmentId, worker)
}

/** A managed key's new version: the public key if it signs, else the commitment to the key that the caller made. */
export async function versionOf(
  draft: DirectoryDraft,
  { keyId, version }: { keyId: string; version: number },
  { publicKeyJwk, grants }: { publicKeyJwk?: string; grants: readonly Grant[] },
): Promise<Version | undefined> {
  if (publicKeyJwk !== undefined) return { version, jwk: publicMembers(JSON.parse(publicKeyJwk) as Jwk) }
  const own = ownGrant(draft, grants)
  if (own === undefined) return undefined
  return { version, commitment: await draft.context.commitments.managed(keyId, version, own) }
}

type Jwk = Readonly<Record<string, string>>

/** The members that RFC 7638 hashes. */
const publicMembers = ({ crv = '', kty = '', x = '', y }: Jwk): Jwk =>
  y === undefined ? { crv, kty, x } : { crv, kty, x, y }

/** Signs a new managed key. A name that is no slug has no entry. A name or an id that is signed already is no new key's. */
export async function addManagedKey(
  draft: DirectoryDraft,
  { id, name }: { id: string; name: string },
  version: Version | undefined,
  grants: readonly Grant[],
): Promise<void> {
  if (!new RegExp(slugPattern).test(name)) return
  const key = `key/${name}` as const
  const isNew = draft.valueOf(key) === undefined && draft.managedKey(id) === undefined
  const readers = isNew && version && (await draft.setReaders(key, grants))
  if (version && readers) draft.set(key, { id, readers, versions: [version] })
  else draft.unsigned.add(key)
}

/** Signs a new version of a managed key. Its readers are those who hold the newest version. */
export async function addVersion(
  draft: DirectoryDraft,
  key: `key/${string}`,
  body: { publicKeyJwk?: string; grants: readonly Grant[] },
): Promise<void> {
  const entry = draft.valueOf(key)
  const last = entry?.versions.at(-1)?.version
  if (!entry || last === undefined) return
  const version = await versionOf(draft, { keyId: entry.id, version: last + 1 }, body)
  const readers = version && (await draft.setReaders(key, body.grants))
  if (version && readers) draft.set(key, { ...entry, readers, versions: [...entry.versions, version] })
  else draft.unsigned.add(key)
}

const isOf = (userId: string) => (signer: RootSigner) => 'person' in signer && signer.person === userId

/**
 * Takes the keys of a person from the root. If too few signers would be left, other signers must be added first. Nobody takes
 * themselves out, because the signers who stay must sign the new root.
 */
export async function endSigner(draft: DirectoryDraft, userId: string): Promise<void> {
  await draft.changeRoot(({ signers, threshold }) => {
    const rest = signers.filter((one) => !isOf(userId)(one))
    if (rest.length === signers.length) return {}
    if (draft.context.own === `person/${userId}`)
      throw new SkerryError('conflict', 'you sign the directory: another signer has to take you from the signers first')
    const persons = new Set(rest.flatMap((one) => ('person' in one ? [one.person] : [])))
    if (persons.size < threshold)
      throw new SkerryError('conflict', 'this person is the last signer of the directory: add another signer first')
    return { signers: rest }
  })
}

export const setRecovery = async (
  draft: DirectoryDraft,
  { recoveryPublicKeyJwk }: { recoveryPublicKeyJwk: string },
): Promise<void> => {
  const recovery = await fingerprint(recoveryPublicKeyJwk)
  await draft.changeRoot(() => ({ recovery }), 'recovery')
}
