import { environmentKeyCommitment } from '../../../packages/crypto/src/directory/commitments.ts'
import { signDocument } from '../../../packages/crypto/src/directory/document.ts'
import type { DirectoryEntry } from '../../../packages/crypto/src/directory/entries.ts'
import { nextHead } from '../../../packages/crypto/src/directory/head.ts'
import { newRoot, openRoot, type RootDraft } from '../../../packages/crypto/src/directory/root.ts'
import { signerOfToken } from '../../../packages/crypto/src/directory/signing.ts'
import { directoryTree } from '../../../packages/crypto/src/directory/tree.ts'
import { newId } from '../../../packages/crypto/src/random.ts'
import { importDek, newDek, sealSecret } from '../../../packages/crypto/src/secret.ts'
import { newToken } from '../../../packages/crypto/src/token.ts'
import { wrapKey } from '../../../packages/crypto/src/wrap.ts'
import { createSkerry, type SkerrySettings } from '../../../packages/sdk/src/skerry.ts'
import type { Bench } from '../figure.ts'
import { median, say } from '../measure.ts'
import { secretName, usualSecrets } from '../tenant.ts'

const resolvedEach = 100
const name = 'app/production'
const anyHash = 'A'.repeat(43)

/**
 * The processor time of a first resolve with the proof of the signed directory, in times of a first resolve without one.
 * The answers come from memory, so that only the client works.
 */
export async function directoryResolve({ plan }: Bench): Promise<number> {
  const { plain, proven } = await makeClients()
  const ratios: number[] = []
  for (let round = 0; round <= plan.rounds; round++) {
    const [without, withProof] = [await cpuOf(plain), await cpuOf(proven)]
    // The first round compiles.
    if (round > 0) ratios.push(withProof / without)
    if (round === plan.rounds) say(`  ${without.toFixed(2)} ms without, ${withProof.toFixed(2)} ms with the proof`)
  }
  return median(ratios)
}

async function cpuOf(settings: SkerrySettings): Promise<number> {
  const before = process.cpuUsage()
  for (let i = 0; i < resolvedEach; i++) await createSkerry(settings).resolve()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / resolvedEach
}

/** Two clients of one environment with the usual number of secrets. One of them has a pin. */
async function makeClients(): Promise<{ plain: SkerrySettings; proven: SkerrySettings }> {
  const reader = await newToken('skerry')
  const [orgId, envId, bytes] = [newId('organization'), newId('environment'), newDek()]
  const dek = await importDek(bytes)
  const secrets = await Promise.all(
    Array.from({ length: usualSecrets }, async (_, at) => {
      return { name: secretName(at), ciphertext: await sealSecret('x'.repeat(48), dek, envId, secretName(at)) }
    }),
  )
  const wrappedDek = await wrapKey(bytes, reader.publicKeyJwk)
  const scope = { orgId, orgSlug: 'bench', appId: newId('application'), appSlug: 'app', envId, envSlug: 'production' }
  const body = { scope, layers: [{ source: 'app', environmentId: envId, slug: 'production', wrappedDek, secrets }] }
  const key = await environmentKeyCommitment(envId, bytes)
  const { directory, pin } = await sign(orgId, { id: envId, key, layers: [], readers: anyHash })
  const answering = (text: string) => async () => new Response(text)
  const shared = { baseUrl: 'http://127.0.0.1:1', token: reader.token }
  return {
    plain: { ...shared, fetch: answering(JSON.stringify(body)) },
    proven: {
      ...shared,
      directory: { pins: [pin], name },
      fetch: answering(JSON.stringify({ ...body, directory })),
    },
  }
}

/** A directory of one signer with 2,000 environments. */
async function sign(orgId: string, value: Extract<DirectoryEntry, { key: `environment/${string}` }>['value']) {
  const signer = await signerOfToken((await newToken('skerry')).token)
  const draft: RootDraft = {
    threshold: 1,
    signers: [{ kid: signer.kid, jwk: signer.jwk, alg: 'ES256', person: newId('user'), policyKid: null }],
    rescue: null,
    recovery: null,
    minimum: { wrap: 'wd1', token: 'skerry' },
  }
  const now = Math.floor(Date.now() / 1000)
  const others = Array.from({ length: 1999 }, (_, at): DirectoryEntry => {
    return { key: `environment/app-${at}/production`, value: { ...value, id: newId('environment') } }
  })
  const rootText = await signDocument('or1', newRoot(orgId, draft, now), [signer])
  const root = await openRoot(rootText)
  const tree = await directoryTree([{ key: `environment/${name}`, value }, ...others])
  const headText = await signDocument('od1', nextHead(null, root, tree, now), [signer])
  const directory = { roots: [rootText], heads: [headText], proofs: [tree.prove(`environment/${name}`)] }
  return { directory, pin: root.hash }
}
