import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { signDocument } from '@skerry/crypto/directory/document'
import type { DirectoryEntry } from '@skerry/crypto/directory/entries'
import { newRoot, parseRoot } from '@skerry/crypto/directory/root'
import { signerOfMachine } from '@skerry/crypto/directory/signing'
import { newSigningMaterial } from '@skerry/crypto/kms-sign'
import type { Json } from '../../../cli/test/hostile/liar.ts'
import type { Attack } from '../attack.ts'
import { forgedEnvironment } from '../forged-environment.ts'
import { entriesOf, signedDirectory } from '../signed.ts'
import type { Stage } from '../stage.ts'

// Lies about the directory itself.

const resolve = /\/v1\/resolve/
const ownKey = 'environment/shop/development'
const groupKey = 'environment/shared:development'
const daySeconds = 86_400
const seconds = () => Math.floor(Date.now() / 1000)

/** Answers every question with this directory, and a resolve with this answer. */
function answerWith({ liar }: Stage, answer: Json, directory: Json): void {
  liar.lie(resolve, () => ({ ...answer, directory }))
  liar.lie(/\/directory(?:\?|$)/, () => ({ directory }))
}

/** An environment that the server made, in a directory in which a signer vouches for it. */
async function vouched(stage: Stage) {
  const { answer, environmentId, key } = await forgedEnvironment(stage)
  const commitment = await environmentKeyCommitment(environmentId, key)
  const entries = (await entriesOf(stage)).map((entry): DirectoryEntry => {
    if (entry.key !== ownKey) return entry
    return { key: ownKey, value: { ...(entry.value as Json), id: environmentId, key: commitment } }
  })
  return { answer, entries, keys: [ownKey, groupKey] }
}

const changedProof = (change: (proof: Json) => Json) => async (stage: Stage) => {
  const { directory } = stage.now
  const proofs = directory.proofs.map((proof: Json) => (proof.entry.includes(ownKey) ? change(proof) : proof))
  const { answer } = await forgedEnvironment(stage)
  answerWith(stage, answer, { ...directory, proofs })
}

export const directories: readonly Attack[] = [
  {
    id: 'downgrade',
    title: 'The server denies that there is a directory, and answers with values of its own',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => answerWith(stage, (await forgedEnvironment(stage)).answer, null),
  },
  {
    id: 'withheld-directory',
    title: 'The server leaves the directory out of an answer that is true otherwise',
    act: 'run',
    begin: async (stage) => answerWith(stage, stage.now, null),
  },
  {
    id: 'garbage-proof',
    title: 'The server proves an entry with random bytes',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: changedProof((proof) => ({
      ...proof,
      path: proof.path.map((hash: string) => hash.split('').toReversed().join('')),
    })),
  },
  {
    id: 'proof-of-another-name',
    title: 'The server proves the entry of another environment',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: changedProof((proof) => ({ ...proof, entry: proof.entry.replace('development', 'production') })),
  },
  {
    id: 'missing-proof',
    title: 'The server gives no proof of the environment',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer } = await forgedEnvironment(stage)
      answerWith(stage, answer, { ...stage.now.directory, proofs: [] })
    },
  },
  {
    id: 'older-state',
    title: 'The server answers with everything as it was before the re-key, with the head of that time',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin', pin: 'without-memory' },
    begin: async (stage) => answerWith(stage, stage.earlier, stage.earlier.directory),
  },
  {
    id: 'hidden-head',
    title: 'The server answers with the present values and hides the head that vouches for their key',
    act: 'run',
    begin: async (stage) => answerWith(stage, stage.now, stage.earlier.directory),
  },
  {
    id: 'two-heads',
    title: 'A signer signs a second head of one version, which vouches for an environment of the server',
    act: 'run',
    remains: { nothing: 'without-a-pin', pin: 'without-memory' },
    begin: async (stage) => {
      const { answer, ...made } = await vouched(stage)
      const { signer, now } = stage
      answerWith(
        stage,
        answer,
        await signedDirectory({ ...made, from: now.directory, signer, issuedAt: seconds(), beside: true }),
      )
    },
  },
  {
    id: 'head-of-a-stranger',
    title: 'The server signs a head with a key that no root names',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouched(stage)
      const signer = await stranger()
      answerWith(
        stage,
        answer,
        await signedDirectory({ ...made, from: stage.now.directory, signer, issuedAt: seconds() }),
      )
    },
  },
  {
    id: 'root-of-a-stranger',
    title: 'The server makes a root of its own, with itself as the signer',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouched(stage)
      const signer = await stranger()
      const { body } = await parseRoot(stage.now.directory.roots.at(-1))
      const signers = [
        { kid: signer.kid, alg: 'ES256', jwk: signer.jwk, person: (body.signers[0] as Json).person, policyKid: null },
      ] as const
      const root = await signDocument('or1', newRoot(stage.orgId, { ...body, signers, threshold: 1 }, seconds()), [
        signer,
      ])
      const from = { roots: [root], heads: stage.now.directory.heads }
      answerWith(stage, answer, await signedDirectory({ ...made, from, signer, issuedAt: seconds() }))
    },
  },
  {
    id: 'head-from-the-future',
    title: 'A signer whose clock is a day ahead signs a head',
    act: 'run',
    begin: async (stage) => answerWith(stage, stage.now, await dated(stage, seconds() + daySeconds)),
  },
  {
    id: 'garbage-directory',
    title: 'The server answers with texts that are no documents',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer } = await forgedEnvironment(stage)
      answerWith(stage, answer, { roots: ['or1.AA.AA'], heads: ['od1.AA.AA'], proofs: [] })
    },
  },
]

const stranger = async () => signerOfMachine((await newSigningMaterial('ecdsa-p256-sha256')).pkcs8)

/** The honest entries under a head of this time. */
const dated = async (stage: Stage, issuedAt: number) =>
  signedDirectory({
    from: stage.now.directory,
    entries: await entriesOf(stage),
    keys: [ownKey, groupKey],
    signer: stage.signer,
    issuedAt,
  })
