import { encodeBase64url } from '../../../packages/crypto/src/base64url.ts'
import { signDocument } from '../../../packages/crypto/src/directory/document.ts'
import type { DirectoryEntry } from '../../../packages/crypto/src/directory/entries.ts'
import { nextHead } from '../../../packages/crypto/src/directory/head.ts'
import { newRoot, openRoot, type RootDraft } from '../../../packages/crypto/src/directory/root.ts'
import { signerOfMachine } from '../../../packages/crypto/src/directory/signing.ts'
import { directoryTree, type EntryProof } from '../../../packages/crypto/src/directory/tree.ts'
import { type DirectoryTrust, verifyDirectoryEntry } from '../../../packages/crypto/src/directory/verify.ts'
import { newSigningMaterial } from '../../../packages/crypto/src/kms-sign.ts'
import { newId, randomBytes } from '../../../packages/crypto/src/random.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'

const now = 1_767_225_600
const key = 'environment/app-1000/production'
const verifiedEach = 200
const hash = () => encodeBase64url(randomBytes(32))

/**
 * The processor time, in milliseconds, in which a client that knows a pin verifies one root of three signers, one head,
 * and one entry of a directory with 2,000 environments.
 */
export async function directoryVerify({ plan }: Bench): Promise<number> {
  const small = await makeAnswer(environments(2000))
  const rounds: { cpu: number; wall: number }[] = []
  for (let round = 0; round <= plan.rounds; round++) {
    const [before, start] = [process.cpuUsage(), performance.now()]
    for (let i = 0; i < verifiedEach; i++) await verifyDirectoryEntry(small.answer, key, small.trust)
    const { user, system } = process.cpuUsage(before)
    const wall = (performance.now() - start) / verifiedEach
    // The first round compiles.
    if (round > 0) rounds.push({ cpu: (user + system) / 1000 / verifiedEach, wall })
  }
  const walls = rounds.map(({ wall }) => wall)
  say(`  by the clock ${median(walls).toFixed(2)} ms, in the fastest round ${Math.min(...walls).toFixed(2)} ms`)
  const large = await makeAnswer([...people(2000), ...environments(2000)])
  const { roots, heads, proof } = large.answer
  const [root, head, path] = [roots[0]!.length, heads[0]!.length, JSON.stringify(proof).length]
  say(`  with 2,000 people and 2,000 environments: root ${root}, head ${head}, entry with its path ${path} bytes`)
  return median(rounds.map(({ cpu }) => cpu))
}

const people = (count: number): DirectoryEntry[] =>
  Array.from({ length: count }, (_, at) => ({
    key: `person/${newId('user')}` as `person/${string}`,
    value: { email: `person-${at}@example.com`, kid: hash() },
  }))

const environments = (count: number): DirectoryEntry[] =>
  Array.from({ length: count }, (_, at) => ({
    key: `environment/app-${at}/production` as const,
    value: { id: newId('environment'), key: hash(), layers: ['shared:production'], readers: hash() },
  }))

async function makeAnswer(entries: DirectoryEntry[]) {
  const signers = await Promise.all(
    [1, 2, 3].map(async () => signerOfMachine((await newSigningMaterial('ecdsa-p256-sha256')).pkcs8)),
  )
  const draft: RootDraft = {
    threshold: 1,
    signers: signers.map(({ kid, jwk }) => ({ kid, jwk, alg: 'ES256', person: newId('user'), policyKid: null })),
    rescue: null,
    recovery: null,
    minimum: { wrap: 'wd1', token: 'skerry' },
  }
  const by = signers.slice(0, 1)
  const rootText = await signDocument('or1', newRoot(newId('organization'), draft, now), by)
  const root = await openRoot(rootText)
  const tree = await directoryTree(entries)
  const headText = await signDocument('od1', nextHead(null, root, tree, now), by)
  const answer = { roots: [rootText], heads: [headText], proof: tree.prove(key) as EntryProof }
  const trust: DirectoryTrust = { pins: [{ root: root.hash, leastHead: 1 }], known: null, now, purpose: 'read' }
  return { answer, trust }
}
