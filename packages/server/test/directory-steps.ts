import { directory } from '@skerry/contract/directory/endpoints'
import type { Claim, Signed } from '@skerry/contract/directory/schemas'
import { environmentKeyCommitment, managedKeyCommitment, readersHash } from '@skerry/crypto/directory/commitments'
import { signDocument } from '@skerry/crypto/directory/document'
import { type DirectoryEntry, formatEntry } from '@skerry/crypto/directory/entries'
import { type HeadBody, type HeadDocument, nextHead, parseHead } from '@skerry/crypto/directory/head'
import { newRoot, nextRoot, parseRoot, type RootDocument, type RootDraft } from '@skerry/crypto/directory/root'
import { type DirectorySigner, signerOfMachine } from '@skerry/crypto/directory/signing'
import { directoryTree } from '@skerry/crypto/directory/tree'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import type { Static } from 'typebox'
import { newId } from '../src/kernel/context.ts'
import { known, only, type Step, step, token, user } from './step.ts'
import type { Actor, Tenant } from './tenant.ts'
import type { World } from './world.ts'

// Signers of the directory, as clients that know all entries.

export type Trust = Static<typeof Signed>
type Fact = Omit<Static<typeof Claim>, 'signedReaders'>

/** The directory as its signers know it. */
export interface Chain {
  root: RootDocument
  head: HeadDocument | null
  entries: ReadonlyMap<string, DirectoryEntry>
}

/** Makes a key that signs, and exists in the test alone. */
export const newSigner = async (): Promise<DirectorySigner> =>
  signerOfMachine((await newSigningMaterial('ecdsa-p256-sha256')).pkcs8)

/** A root with one person for each key. All of them must sign. */
export const draftOf = (signers: readonly DirectorySigner[], more: Partial<RootDraft> = {}): RootDraft => ({
  threshold: signers.length,
  signers: signers.map(({ kid, jwk }) => ({ kid, alg: 'ES256', jwk, policyKid: null, person: newId('user') })),
  rescue: null,
  recovery: null,
  minimum: { wrap: 'wd1', token: 'classic' },
  ...more,
})

/** The key that every environment and managed key of these tests has. */
export const keyBytes = new Uint8Array(32).fill(7)
export const anyKid = 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'

/** The entry that a signer makes of a claim of the server. */
export async function entryOf({ key, value, readers }: Fact): Promise<DirectoryEntry> {
  const members = { ...value } as Record<string, unknown> & { id: string }
  if (readers) members.readers = await readersHash(readers)
  if (key.startsWith('environment/')) members.key = await environmentKeyCommitment(members.id, keyBytes)
  if (key.startsWith('token/')) {
    members.name ??= 'a decoy'
    members.kid ??= anyKid
  }
  if (key.startsWith('key/'))
    members.versions = await Promise.all(
      (members.versions as { version: number; jwk?: object }[]).map(async (one) =>
        one.jwk ? one : { ...one, commitment: await managedKeyCommitment(members.id, one.version, keyBytes) },
      ),
    )
  return { key, value: members } as unknown as DirectoryEntry
}

/** Reads what the server claims, about these entries or about all. */
export async function claimsOf(
  world: World,
  { orgId, admin }: Tenant,
  ...keys: string[]
): Promise<Static<typeof Claim>[]> {
  const query = keys.length > 0 ? { key: keys } : {}
  const { body, error } = await world.call(directory.claims, { as: admin.as, params: { orgId }, query })
  if (error) throw new Error(error.message)
  return body.claims
}

export const nowOf = (world: World): number => Math.floor(world.clock.now().getTime() / 1000)

interface Signing {
  signer: DirectorySigner
  now: number
  /** The text of the next root. */
  root?: string
  /** Changes the head before it is signed. */
  head?: Partial<HeadBody>
}

/** Signs entries, by key; null ends one -> what to send, and the directory after it. */
export async function signEntries(
  before: Chain,
  changes: Readonly<Record<string, DirectoryEntry | null>>,
  { signer, now, root: rootText, head: forged }: Signing,
): Promise<{ trust: Trust; after: Chain }> {
  const root = rootText === undefined ? before.root : await parseRoot(rootText)
  const entries = new Map(before.entries)
  for (const [key, entry] of Object.entries(changes)) {
    if (entry === null) entries.delete(key)
    else entries.set(key, entry)
  }
  const body = { ...nextHead(before.head, root, await directoryTree([...entries.values()]), now), ...forged }
  const head = await signDocument('od1', body, [signer])
  return {
    trust: {
      ...(rootText !== undefined && { root: rootText }),
      head,
      entries: Object.entries(changes).map(([key, entry]) => ({ key, text: entry && formatEntry(entry) })),
    },
    after: { root, head: await parseHead(head), entries },
  }
}

/** Signs the root that follows. */
export const signRoot = async (before: RootDocument, draft: RootDraft, signers: DirectorySigner[], now: number) =>
  signDocument('or1', nextRoot(before, draft, now), signers)

/** Makes the first root and the first head, with these entries. */
export async function signStart(
  orgId: string,
  entries: readonly DirectoryEntry[],
  { signers, now, draft = draftOf(signers) }: { signers: DirectorySigner[]; now: number; draft?: RootDraft },
): Promise<{ trust: Trust; after: Chain }> {
  const text = await signDocument('or1', newRoot(orgId, draft, now), signers)
  const before: Chain = { root: await parseRoot(text), head: null, entries: new Map() }
  const changes = Object.fromEntries(entries.map((entry) => [entry.key, entry]))
  return signEntries(before, changes, { signer: signers[0] as DirectorySigner, now, root: text })
}

export const putDirectory = (world: World, { orgId, admin }: Tenant, body: Trust | Record<string, unknown>) =>
  world.call(directory.put, { as: admin.as, params: { orgId }, body })

/** Starts the directory of an organization with all that the server claims. */
export async function startDirectory(
  world: World,
  tenant: Tenant,
): Promise<{ signer: DirectorySigner; chain: Chain; trust: Trust }> {
  const signer = await newSigner()
  const entries = await Promise.all((await claimsOf(world, tenant)).map(entryOf))
  const { trust, after } = await signStart(tenant.orgId, entries, { signers: [signer], now: nowOf(world) })
  const { error } = await putDirectory(world, tenant, trust)
  if (error) throw new Error(error.message)
  return { signer, chain: after, trust }
}

/** Steps that start a directory without entries, change its root, and sign a head. */
export async function signing(
  world: World,
  ids: Record<string, string>,
  tenant: Tenant,
  admin: Actor,
): Promise<Step[]> {
  const signer = await newSigner()
  const now = nowOf(world)
  const start = await signStart(tenant.orgId, [], { signers: [signer], now })
  const root = await signRoot(start.after.root, draftOf([signer]), [signer], now)
  const changed = await signEntries(start.after, {}, { signer, now, root })
  const renewed = await signEntries(changed.after, {}, { signer, now })
  const place = { params: only(ids, {}), resource: known(ids, 'orgId') }
  const byToken = { as: tenant.admin.as, who: token(tenant.admin) }
  const byPerson = { as: admin.as, who: user(admin) }
  return [
    step(directory.put, 'directory.started', byPerson, { ...place, note: 'starts', body: () => start.trust }),
    step(directory.put, 'directory.root_changed', byToken, { ...place, note: 'a root', body: () => changed.trust }),
    step(directory.put, 'directory.signed', byToken, { ...place, note: 'a head', body: () => renewed.trust }),
  ]
}
