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
async function addEnvironment(draft: DirectoryDraft, name: string, id: string, wrappedDek: string): Promise<boolean> {
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

/** The slug of an application or a group that the server shows, with the mark behind it in the names of environments. */
interface Owned {
  shown: string
  mark: '/' | ':'
  /** The slug of the environment. */
  slug: string
}

/** Signs a new environment of the application or the group that the user named. */
export async function addOwned(
  draft: DirectoryDraft,
  { shown, mark, slug }: Owned,
  id: string,
  wrappedDek: string,
): Promise<boolean> {
  const owner = ownerOf(draft, shown)
  if (owner !== undefined) return addEnvironment(draft, `${owner}${mark}${slug}`, id, wrappedDek)
  draft.unsigned.add(`environment/${shown}${mark}${slug}`)
  return false
}

/** Ends the environments of the application or the group that the user named. */
export async function endOwned(draft: DirectoryDraft, shown: string, mark: Owned['mark']): Promise<void> {
  const isOf = (name: string) => name.startsWith(`${shown}${mark}`)
  if (ownerOf(draft, shown) !== undefined) return draft.endEnvironments(isOf)
  for (const [key] of draft.all<EnvironmentKey>('environment/')) if (isOf(nameOf(key))) draft.unsigned.add(key)
}

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

/** The keys of tokens that end with a person. Others than the user has seen, under the names that were signed, stay. */
export function shownTokens(draft: DirectoryDraft, tokens: readonly { id: string; name: string }[]): string[] {
  const { endedTokens } = draft.typed
  return tokens.flatMap(({ id, name }) => {
    const key = `token/${id}` as const
    const signed = draft.valueOf(key)
    if (signed === undefined) return []
    if (signed.name === name && (endedTokens === undefined || endedTokens.includes(id))) return [key]
    draft.unsigned.add(key)
    return []
  })
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
