import { makeBranchManifest } from '@skerry/crypto/directory/branch-manifest'
import { environmentKeyCommitment } from '@skerry/crypto/directory/commitments'
import { importDek, newDek, sealSecret } from '@skerry/crypto/secret'
import { wrapKey } from '@skerry/crypto/wrap'
import { newEnvironmentId } from '../../../cli/test/hostile/forged.ts'
import type { Json } from '../../../cli/test/hostile/liar.ts'
import { layerOf, publicKeyOf, resolving, withLayer } from '../answers.ts'
import type { Attack } from '../attack.ts'
import { forgedValue, type Stage } from '../stage.ts'

// Lies about a branch, which no signer signs: whoever reads the parent vouches for it with the parent’s key.

/** A branch that the server made. It does not know the parent’s key, so it makes the manifest with another one. */
async function inventedBranch(stage: Stage): Promise<Json> {
  const [environmentId, key] = [newEnvironmentId(), newDek()]
  const parent = layerOf(stage.branchNow, 'app').environmentId
  const facts = {
    id: environmentId,
    parent,
    name: 'pr-1',
    key: await environmentKeyCommitment(environmentId, key),
    expiresAt: null,
  }
  return {
    ...layerOf(stage.branchNow, 'branch'),
    environmentId,
    wrappedDek: await wrapKey(key, await publicKeyOf(stage)),
    manifest: await makeBranchManifest(newDek(), facts),
    secrets: [{ name: 'A', ciphertext: await sealSecret(forgedValue, await importDek(key), environmentId, 'A') }],
  }
}

const answerBranch = ({ liar, branchNow }: Stage, branch: Json) =>
  liar.lie(resolving, () => ({
    ...withLayer(branchNow, 'branch', branch),
    scope: { ...branchNow.scope, envId: branch.environmentId },
  }))

export const branches: readonly Attack[] = [
  {
    id: 'invented-branch',
    title: 'The server sends a branch that it made',
    act: 'branch',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => answerBranch(stage, await inventedBranch(stage)),
  },
  {
    id: 'replayed-branch',
    title: 'The server sends a deleted branch instead of a newer branch with the same name',
    act: 'branch',
    remains: { nothing: 'without-a-pin', pin: 'branches-can-be-rolled-back' },
    begin: (stage) => answerBranch(stage, layerOf(stage.branchEarlier, 'branch')),
  },
  {
    id: 'manifest-of-another-branch',
    title: 'The server sends the key and the values of a branch with the manifest of another branch',
    act: 'branch',
    begin: (stage) => {
      const { manifest } = layerOf(stage.branchEarlier, 'branch')
      answerBranch(stage, { ...layerOf(stage.branchNow, 'branch'), manifest })
    },
  },
  {
    id: 'missing-manifest',
    title: 'The server sends a branch that it made, without a manifest',
    act: 'branch',
    remains: { nothing: 'without-a-pin' },
    begin: async (stage) => {
      const { manifest: _, ...branch } = await inventedBranch(stage)
      answerBranch(stage, branch)
    },
  },
  {
    id: 'hidden-branch',
    title: 'The client asks for a branch, and the server sends only the values of its parent',
    act: 'branch',
    begin: ({ liar, now }) => liar.lie(resolving, () => now),
  },
]
