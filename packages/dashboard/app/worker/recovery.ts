import { exportPrivateKey, generateKeyPair, importPrivateKey, publicKeyJwkOf } from '@skerry/crypto/keys'
import { isShareOf, rewrapShare, type SharePlace } from '@skerry/crypto/recovery'
import { type KeyHolder, unwrapKey, wrapKey } from '@skerry/crypto/wrap'
import {
  type ContributedShare,
  coverEnvironments,
  FalseSharesError,
  gatherRecoveryKey,
  newRecoveryKey,
  type RecoveryRequest,
  rewrapCovered,
} from '@skerry/sdk/recovery'
import { heldKey } from './held.ts'

interface Wrapped {
  environmentId: string
  wrappedDek: string
}

interface Ceremony {
  orgId: string
  request: RecoveryRequest
  shares: ContributedShare[]
  recoveryPublicKeyJwk: string
}

type Plan = Pick<Parameters<typeof newRecoveryKey>[0], 'orgId' | 'threshold' | 'custodians'>

const openAll = (wrapped: Wrapped[]) =>
  Promise.all(
    wrapped.map(async ({ environmentId, wrappedDek }) => ({
      environmentId,
      key: await unwrapKey(wrappedDek, heldKey()),
    })),
  )

export const recoveryOperations = {
  /** Creates a recovery key, and forgets it at once. Returns the request that sets recovery up or rotates its key. */
  newRecoveryKey: async ({ wrapped, ...plan }: Plan & { wrapped: Wrapped[] }) =>
    newRecoveryKey({ ...plan, environments: await openAll(wrapped) }),

  coverEnvironments: async (input: { wrapped: Wrapped[]; recoveryPublicKeyJwk: string }) =>
    coverEnvironments(await openAll(input.wrapped), input.recoveryPublicKeyJwk),

  /** Whether the person's own share can be decrypted and belongs to the recovery key. */
  checkShare: async (input: { wrappedShare: string; recoveryPublicKeyJwk: string; place: SharePlace }) =>
    isShareOf(await unwrapKey(input.wrappedShare, heldKey()), input.recoveryPublicKeyJwk, input.place),

  /** Wraps the person's own share to a target whose words were compared. */
  contributeShare: (input: {
    wrappedShare: string
    targetPublicKeyJwk: string
    recoveryPublicKeyJwk: string
    place: SharePlace
  }) => rewrapShare(input.wrappedShare, heldKey(), input.targetPublicKeyJwk, input.recoveryPublicKeyJwk, input.place),

  /** Combines the shares for a moment. Returns the environment keys, wrapped to this person. */
  recoverKeys: async ({ covered, ...ceremony }: Ceremony & { covered: Wrapped[] }) => {
    const { recoveryKey, falseShares } = await gather(ceremony, heldKey())
    if (!recoveryKey) return { falseShares, grants: null, unreadable: [] }
    return { falseShares, ...(await rewrapCovered(covered, publicKeyJwkOf(heldKey()), recoveryKey)) }
  },

  /** Creates a throw-away key for a drill. Only this person's key can decrypt `kept`. */
  newDrill: async (_: Record<never, never>) => {
    const { privateKey, publicKeyJwk } = await generateKeyPair()
    return { publicKeyJwk, kept: await wrapKey(await exportPrivateKey(privateKey), publicKeyJwkOf(heldKey())) }
  },

  /** Whether the shares combine to the recovery key. */
  endDrill: async ({ kept, ...ceremony }: Ceremony & { kept: string }) => {
    const target = await importPrivateKey(await unwrapKey(kept, heldKey()))
    const { recoveryKey, falseShares } = await gather(ceremony, target)
    return { passed: recoveryKey !== null, falseShares }
  },
}

async function gather({ orgId, request, shares, recoveryPublicKeyJwk }: Ceremony, holder: KeyHolder) {
  try {
    return await gatherRecoveryKey({ orgId, request, shares }, holder, recoveryPublicKeyJwk)
  } catch (error) {
    if (!(error instanceof FalseSharesError)) throw error
    return { recoveryKey: null, falseShares: [...error.falseShares] }
  }
}
