import { environmentKeyCommitment, readersHash } from '@skerry/crypto/directory/commitments'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import { formatEntry, parseEntry } from '@skerry/crypto/directory/entries'
import { parseHead } from '@skerry/crypto/directory/head'
import type { RootDraft } from '@skerry/crypto/directory/root'
import { type DirectorySigner, signerOfMachine } from '@skerry/crypto/directory/signing'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import { type Client, createClient } from '../src/client.ts'
import type { Claim, SignedDirectory } from '../src/directory/open.ts'
import { firstSteps, type Trust } from '../src/directory/signing.ts'
import { type Reply, startServer, type TestServer } from './server.ts'

// A server that stores the signed directory of one organization, and believes everything that signers send.

export const orgId = 'org_0000000000000000000000'
const idOf = (prefix: string, digit: number) => `${prefix}_${String(digit).padStart(22, '0')}`
export const ada = idOf('usr', 1)
export const bob = idOf('usr', 2)
export const production = idOf('env', 6)
const kidOf = (letter: string) => `${letter.repeat(42)}A`
export const kids = { ada: kidOf('a'), bob: kidOf('b'), eve: kidOf('e') }
export const key = new Uint8Array(32).fill(7)

export const newSigner = async (): Promise<DirectorySigner> =>
  signerOfMachine((await newSigningMaterial('ecdsa-p256-sha256')).pkcs8)

export const draftOf = (signers: Record<string, DirectorySigner>): RootDraft => ({
  threshold: 1,
  signers: Object.entries(signers).map(([person, { kid, jwk }]) => ({
    kid,
    alg: 'ES256',
    jwk,
    policyKid: null,
    person,
  })),
  rescue: null,
  recovery: null,
  minimum: { wrap: 'wd1', token: 'classic' },
})

export interface DirectoryServer {
  server: TestServer
  client: Client
  signer: DirectorySigner
  start: SignedDirectory
  /** The documents that the server has, oldest first. */
  roots: string[]
  heads: string[]
  entries: Map<string, string>
  claims: Map<string, Claim>
  /** Stores what a signer sent, or refuses it because of a newer head. */
  store: (trust: Trust) => Promise<Reply | undefined>
}

/** Ada signs. Ada and Bob are members, and Ada alone reads production. */
export async function startDirectoryServer(): Promise<DirectoryServer> {
  const server = await startServer()
  const signer = await newSigner()
  const readers = [[`person/${ada}`, kids.ada]] as const
  const first: DirectoryEntry[] = [
    { key: `person/${ada}`, value: { email: 'ada@example.com', kid: kids.ada } },
    { key: `person/${bob}`, value: { email: 'bob@example.com', kid: kids.bob } },
    {
      key: 'environment/shop/production',
      value: {
        id: production,
        key: await environmentKeyCommitment(production, key),
        layers: [],
        readers: await readersHash(readers),
      },
    },
  ]
  const [step] = await firstSteps(orgId, draftOf({ [ada]: signer }), first, [signer])
  const scene: DirectoryServer = {
    server,
    client: createClient({ baseUrl: server.baseUrl, retry: { attempts: 1 } }),
    signer,
    start: step!.next,
    roots: [step!.trust.root as string],
    heads: [step!.trust.head],
    entries: new Map(first.map((entry) => [entry.key, formatEntry(entry)])),
    claims: new Map(
      first.map(({ key: entryKey, value }) => [
        entryKey,
        { key: entryKey, value: { ...value }, ...listsOf('layers' in value ? readers : null) },
      ]),
    ),
    store: async (trust) => {
      const head = await parseHead(trust.head)
      if (head.body.version !== scene.heads.length + 1)
        return refusal('body.trust.head: the directory has a newer head')
      if (trust.root !== undefined) scene.roots.push(trust.root)
      scene.heads.push(trust.head)
      for (const { key: entryKey, text } of trust.entries) {
        if (text === null) scene.entries.delete(entryKey)
        else scene.entries.set(entryKey, text)
      }
      return undefined
    },
  }
  answer(scene)
  return scene
}

/** The readers as the server lists them, and as they were signed. */
const listsOf = (readers: readonly (readonly [string, string])[] | null): Pick<Claim, 'readers' | 'signedReaders'> => {
  const list = readers?.map(([entryKey, kid]): [string, string] => [entryKey, kid])
  return { readers: list ?? null, signedReaders: list ?? null }
}

export const refusal = (message: string): Reply => ({
  status: 409,
  text: JSON.stringify({ error: { code: 'conflict', message } }),
})

function answer(scene: DirectoryServer): void {
  const { server } = scene
  server.on('directory.get', ({ query }) => {
    const known = Number(query.head ?? 0)
    const heads = known === 0 ? scene.heads.slice(-1) : scene.heads.slice(Math.min(known, scene.heads.length - 1))
    return { json: { directory: { roots: scene.roots, heads, proofs: [] } } }
  })
  server.on('directory.entries', () => {
    const texts = [...scene.entries.values()].toSorted((one, other) =>
      parseEntry(one).key < parseEntry(other).key ? -1 : 1,
    )
    return { json: { head: scene.heads.length, entries: texts, nextCursor: null } }
  })
  server.on('directory.claims', ({ query }) => {
    const wanted = query.key as string[] | undefined
    const missing = (entryKey: string): Claim => ({ key: entryKey, value: null, ...listsOf(null) })
    const claims = wanted ? wanted.map((one) => scene.claims.get(one) ?? missing(one)) : [...scene.claims.values()]
    return { json: { claims, nextCursor: null } }
  })
  server.on('directory.put', async ({ body }) => {
    const trust = body as Trust
    const refused = await scene.store(trust)
    const head = await parseHead(trust.head)
    return refused ?? { json: { head: { version: head.body.version, hash: head.hash } } }
  })
}
