import { signDocument } from '@skerry/crypto/directory/document'
import { newRoot, parseRoot } from '@skerry/crypto/directory/root'
import { newId } from '@skerry/crypto/random'
import type { Json } from '../../../cli/test/hostile/liar.ts'
import type { Attack } from '../attack.ts'
import { forgedEnvironment } from '../forged-environment.ts'
import { entriesOf, groupKey, newStranger, nowSeconds, ownKey, signedDirectory, vouchedEnvironment } from '../signed.ts'
import type { Stage } from '../stage.ts'

// Lies about the directory itself.

const resolve = /\/v1\/resolve/
const daySeconds = 86_400

/** Answers every question with this directory, and a resolve with this answer. */
export function answerWith({ liar }: Stage, answer: Json, directory: Json): void {
  liar.lie(resolve, () => ({ ...answer, directory }))
  liar.lie(/\/directory(?:\?|$)/, () => ({ directory }))
}

/** The environment of the server, with proofs of the environment’s entry that were made from the honest one. */
const changedProof = (change: (proof: Json, environmentId: string) => Json | Json[]) => async (stage: Stage) => {
  const { directory } = stage.now
  const { answer, environmentId } = await forgedEnvironment(stage)
  const proofs = directory.proofs.flatMap((proof: Json) =>
    proof.entry.includes(ownKey) ? change(proof, environmentId) : proof,
  )
  answerWith(stage, answer, { ...directory, proofs })
}

export const directories: readonly Attack[] = [
  {
    id: 'downgrade',
    title: 'The server says that there is no directory, and sends an environment that it made',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => answerWith(stage, (await forgedEnvironment(stage)).answer, null),
  },
  {
    id: 'withheld-directory',
    title: 'The server sends the true values, and leaves the directory out of the response',
    act: 'run',
    begin: async (stage) => answerWith(stage, stage.now, null),
  },
  {
    id: 'garbage-proof',
    title: 'The server sends an environment that it made, and a proof with false hashes',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: changedProof((proof) => ({
      ...proof,
      path: proof.path.map((hash: string) => hash.split('').toReversed().join('')),
    })),
  },
  {
    id: 'proof-of-another-name',
    title: 'The server sends an environment that it made, and the proof of another entry',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: changedProof((proof) => ({ ...proof, entry: proof.entry.replace('development', 'production') })),
  },
  {
    id: 'missing-proof',
    title: 'The server sends an environment that it made, and no proof',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer } = await forgedEnvironment(stage)
      answerWith(stage, answer, { ...stage.now.directory, proofs: [] })
    },
  },
  {
    id: 'older-state',
    title: 'The server sends the keys, the values and the head from before the last re-key',
    act: 'run',
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin', pin: 'without-memory' },
    begin: async (stage) => answerWith(stage, stage.earlier, stage.earlier.directory),
  },
  {
    id: 'hidden-head',
    title:
      'The server sends the current values with an older head. It hides the newest head, which contains the key of these values',
    act: 'run',
    begin: async (stage) => answerWith(stage, stage.now, stage.earlier.directory),
  },
  {
    id: 'two-heads',
    title:
      'A signer signs a second head with the number of the newest head. The second head contains an environment that the server made',
    act: 'run',
    remains: { nothing: 'without-a-pin', pin: 'without-memory' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const { signer, now } = stage
      const directory = await signedDirectory({ ...made, from: now.directory, signer, beside: true })
      answerWith(stage, answer, directory)
    },
  },
  {
    id: 'head-of-a-stranger',
    title: 'The server sends an environment that it made, and a head that it signed with a key that is in no root',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const signer = await newStranger()
      answerWith(stage, answer, await signedDirectory({ ...made, from: stage.now.directory, signer }))
    },
  },
  {
    id: 'root-of-a-stranger',
    title: 'The server sends an environment that it made, and a root in which the server is the signer',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer, ...made } = await vouchedEnvironment(stage)
      const { directory } = await strangersDirectory(stage, made)
      answerWith(stage, answer, directory)
    },
  },
  {
    id: 'repeated-proof',
    title:
      'The server sends an environment that it made, and two proofs of one entry. The first proof has the id of this environment, and the second has the signed id',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: changedProof((proof, environmentId) => [
      { ...proof, entry: proof.entry.replace(/"id":"[^"]+"/, `"id":"${environmentId}"`) },
      proof,
    ]),
  },
  {
    id: 'shortened-path',
    title: 'The server sends an environment that it made, and a proof with too few hashes',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: changedProof((proof) => ({ ...proof, index: Math.floor(proof.index / 2), path: proof.path.slice(1) })),
  },
  {
    id: 'head-of-another-organization',
    title:
      'The server sends an environment that it made, and the directory of another organization, in which the server is a signer',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const made = await vouchedEnvironment(stage)
      const other = { ...stage, orgId: newId('organization') }
      const { directory } = await strangersDirectory(other, made)
      answerWith(stage, made.answer, directory)
    },
  },
  {
    id: 'head-from-the-future',
    title: 'The time of the newest head is a day in the future, because the clock of its signer was wrong',
    act: 'run',
    begin: async (stage) => answerWith(stage, stage.now, await dated(stage, nowSeconds() + daySeconds)),
  },
  {
    id: 'garbage-directory',
    title: 'The server sends an environment that it made, with meaningless texts as the directory',
    act: 'run',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { answer } = await forgedEnvironment(stage)
      answerWith(stage, answer, { roots: ['or1.AA.AA'], heads: ['od1.AA.AA'], proofs: [] })
    },
  },
  {
    id: 'clock-behind',
    title: 'No attack: the clock of the client is two days behind',
    act: 'run',
    clockDays: -2,
    begin: () => {},
  },
  {
    id: 'clock-ahead',
    title: 'No attack: the clock of the client is 31 days ahead',
    act: 'run',
    clockDays: 31,
    begin: () => {},
  },
  {
    id: 'old-head',
    title: 'A month after the last re-key, the server sends the keys, the values and the head from before the re-key',
    act: 'run',
    clockDays: 31,
    remains: { nothing: 'without-a-pin', memory: 'without-a-pin' },
    begin: (stage) => answerWith(stage, stage.earlier, stage.earlier.directory),
  },
]

/** A directory whose only signer is the server. */
export async function strangersDirectory(
  stage: Stage,
  made: Pick<Parameters<typeof signedDirectory>[0], 'entries' | 'keys'>,
) {
  const signer = await newStranger()
  const { body } = await parseRoot(stage.now.directory.roots.at(-1))
  const signers = [
    { kid: signer.kid, alg: 'ES256', jwk: signer.jwk, person: (body.signers[0] as Json).person, policyKid: null },
  ] as const
  const draft = { ...body, signers, threshold: 1 }
  const root = await signDocument('or1', newRoot(stage.orgId, draft, nowSeconds()), [signer])
  const from = { roots: [root], heads: stage.now.directory.heads }
  const { heads, ...directory } = await signedDirectory({ ...made, from, signer })
  return { pin: (await parseRoot(root)).hash, directory: { ...directory, heads: heads.slice(-1) } }
}

/** The honest entries under a head of this time. */
const dated = async (stage: Stage, issuedAt: number) =>
  signedDirectory({
    from: stage.now.directory,
    entries: await entriesOf(stage),
    keys: [ownKey, groupKey],
    signer: stage.signer,
    issuedAt,
  })
