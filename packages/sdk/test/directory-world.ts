import { fingerprint } from '@skerry/crypto/digest'
import { environmentKeyCommitment, readersHash } from '@skerry/crypto/directory/commitments'
import { signDocument } from '@skerry/crypto/directory/document'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import { type HeadDocument, nextHead, parseHead } from '@skerry/crypto/directory/head'
import { formatPin } from '@skerry/crypto/directory/pin'
import { formatPinnedToken } from '@skerry/crypto/directory/pinned-token'
import { newRoot, nextRoot, parseRoot, type RootDocument, type RootDraft } from '@skerry/crypto/directory/root'
import { type DirectorySigner, signerOfToken } from '@skerry/crypto/directory/signing'
import { type DirectoryTree, directoryTree } from '@skerry/crypto/directory/tree'
import type { KnownDirectory } from '@skerry/crypto/directory/verify'
import { newId } from '@skerry/crypto/random'
import { type NewToken, newToken } from '@skerry/crypto/token'
import { unwrapKey } from '@skerry/crypto/wrap'
import type { Cache } from '../src/cache.ts'
import { type DirectoryMemory, newerDirectory } from '../src/directory/memory.ts'
import type { SkerrySettings } from '../src/skerry.ts'
import { app, type Draft, ids, openSkerry, resolveWorld, shared } from './world.ts'

export const name = 'web/production'
/** Unix seconds. */
export const start = 1_767_225_600
export const day = 86_400

interface Signed {
  roots: { text: string; document: RootDocument }[]
  heads: { text: string; document: HeadDocument; tree: DirectoryTree }[]
}

/** A person who signs, and the entries that they vouch for. */
export async function openSigned(entries: readonly DirectoryEntry[], org: string = ids.orgId) {
  const signer = await signerOfToken((await newToken('skerry')).token)
  const person = newId('user')
  const draft: RootDraft = {
    threshold: 1,
    signers: [{ kid: signer.kid, alg: 'ES256', jwk: signer.jwk, person, policyKid: null }],
    rescue: null,
    recovery: null,
    minimum: { wrap: 'wd1', token: 'classic' },
  }
  const signed: Signed = { roots: [], heads: [] }
  const publishRoot = async (body: RootDocument['body'], by: DirectorySigner = signer) => {
    const text = await signDocument('or1', body, [by])
    signed.roots.push({ text, document: await parseRoot(text) })
  }
  const newestRoot = () => signed.roots.at(-1)!.document
  /** Signs the next head over these entries. */
  const sign = async (next: readonly DirectoryEntry[], at = start) => {
    const tree = await directoryTree(next)
    const body = nextHead(signed.heads.at(-1)?.document ?? null, newestRoot(), tree, at)
    const text = await signDocument('od1', body, [signer])
    signed.heads.push({ text, document: await parseHead(text), tree })
  }
  const changeRoot = async (change: Partial<RootDraft>, at = start) =>
    publishRoot(nextRoot(newestRoot(), { ...draft, ...change }, at))
  await publishRoot(newRoot(org, draft, start))
  await sign(entries)
  return { ...signed, person, sign, changeRoot, pin: formatPin({ root: newestRoot().hash, leastHead: 1 }) }
}

interface Asked {
  root?: string[] | undefined
  head?: number | undefined
  keys: readonly string[]
}

/** The member `directory` as an honest server answers it. */
export function showDirectory({ roots, heads }: Signed, { root = [], head, keys }: Asked) {
  const first = Math.max(
    roots.findIndex(({ document }) => root.includes(document.hash)),
    0,
  )
  const newest = heads.at(-1)!
  const later = head === undefined ? [] : heads.filter(({ document }) => document.body.version > head)
  return {
    roots: roots.slice(first).map(({ text }) => text),
    heads: (later.length > 0 ? later : [newest]).map(({ text }) => text),
    proofs: keys.map((key) => newest.tree.prove(key)).filter((proof) => proof !== undefined) as Draft<
      NonNullable<ReturnType<DirectoryTree['prove']>>
    >[],
  }
}

export type Shown = ReturnType<typeof showDirectory>

/** A server of one token, whose environment and group are signed. `lie` changes what the server shows. */
export async function directoryWorld(token?: NewToken) {
  const world = await resolveWorld(token)
  const { reader, server } = world
  world.body = structuredClone(world.body)
  const keyOf = async (at: number) => {
    const { environmentId, wrappedDek } = world.body.layers[at]!
    return environmentKeyCommitment(environmentId, await unwrapKey(wrappedDek, reader.privateKey))
  }
  const readers = await readersHash([[`token/${reader.tokenId}`, await fingerprint(reader.publicKeyJwk)]])
  const entries: DirectoryEntry[] = [
    {
      key: `environment/${name}`,
      value: { id: app.environmentId, key: await keyOf(1), layers: ['shared:production'], readers },
    },
    {
      key: 'environment/shared:production',
      value: { id: shared.environmentId, key: await keyOf(0), layers: [], readers },
    },
    {
      key: `token/${reader.tokenId}`,
      value: { name: 'ci', environment: name, kid: await fingerprint(reader.publicKeyJwk) },
    },
  ]
  const signed = await openSigned(entries)
  const rootPin = { root: signed.roots[0]!.document.hash, leastHead: 1 }
  const directory = Object.assign(world, {
    signed,
    entries,
    pinned: reader.format === 'classic' ? '' : await formatPinnedToken(reader.token, rootPin, name),
    clock: { ms: (start + day) * 1000 },
    lie: (shown: Shown): unknown => shown,
    /** Whether the server knows no directory, or shows none. */
    isSilent: false,
  })
  server.on('resolve.get', async ({ headers, query }) => {
    const honest = await world.answer?.()
    if (honest) return honest
    const { proof, root, head } = query as { proof?: string; root?: string[]; head?: number }
    const keys = [`environment/${name}`, ...world.body.layers.flatMap(groupEntry)]
    const shown = proof && !directory.isSilent ? showDirectory(signed, { root, head, keys }) : null
    const body = { ...world.body, ...(proof ? { directory: shown && directory.lie(shown) } : {}) }
    const etag = `"${world.etag.length}${JSON.stringify(body).length}-${signed.heads.length}"`
    if (headers['if-none-match'] === etag) return { status: 304, headers: { etag } }
    return { text: JSON.stringify(body), headers: { etag } }
  })
  server.on('directory.get', ({ query }) => {
    const { root, head, key = [] } = query as { root?: string[]; head?: number; key?: string[] }
    return { json: { directory: showDirectory(signed, { root, head, keys: key }) } }
  })
  return directory
}

const groupEntry = ({ groupSlug, slug }: { groupSlug?: string; slug: string }) =>
  groupSlug === undefined ? [] : [`environment/${groupSlug}:${slug}`]

export type DirectoryWorld = Awaited<ReturnType<typeof directoryWorld>>

/** A client that has nothing but the token, with its pin and its name. */
export const openPinned = (world: DirectoryWorld, settings: Partial<SkerrySettings> = {}) =>
  openSkerry(world, { token: world.pinned, now: () => world.clock.ms, ...settings } as Partial<SkerrySettings>)

/** The error of a client that has nothing but the token; undefined if the server is believed. */
export const refusal = (world: DirectoryWorld, settings: Partial<SkerrySettings> = {}) =>
  openPinned(world, settings)
    .resolve()
    .then(
      () => undefined,
      (error) => error,
    )

/** A memory that the test can read. */
export function openMemory() {
  const kept = new Map<string, KnownDirectory>()
  const memory: DirectoryMemory = {
    read: async (orgId) => kept.get(orgId) ?? null,
    write: async (orgId, known) => void kept.set(orgId, newerDirectory(known, kept.get(orgId) ?? null)),
  }
  return { kept, memory }
}

export const lines = ({ server }: DirectoryWorld) => server.requests.map(({ line }) => line)

/** A worker of the server. */
export const worker = { kid: `${'_'.repeat(42)}A`, heldBy: 'server' } as const

/** A cache whose contents the test can read. */
export const mapCache = () => {
  const kept = new Map<string, string>()
  const cache: Cache = {
    read: async (key) => kept.get(key),
    write: async (key, text) => void kept.set(key, text),
    delete: async (key) => void kept.delete(key),
  }
  return { kept, cache }
}
