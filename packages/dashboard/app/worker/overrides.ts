import { CryptoError } from '@skerry/crypto/errors'
import {
  type OverridePlace,
  openOverride,
  type PersonalOverride,
  type SealedOverride,
  sealOverride,
} from '@skerry/crypto/override'
import { heldKey } from './held.ts'

export const overrideOperations = {
  /** Returns the name and the revision of each override, without its value. Null stands for one that does not open. */
  nameOverrides: ({ place, sealed }: { place: OverridePlace; sealed: SealedOverride[] }) =>
    Promise.all(
      sealed.map(async (one) => {
        try {
          const { name, revision } = await openOverride(one, heldKey(), place)
          return { name, revision }
        } catch (error) {
          if (error instanceof CryptoError) return null
          throw error
        }
      }),
    ),

  openOverride: async ({ place, sealed }: { place: OverridePlace; sealed: SealedOverride }) =>
    (await openOverride(sealed, heldKey(), place)).value,

  sealOverride: ({ place, ...override }: PersonalOverride & { place: OverridePlace }) =>
    sealOverride(override, heldKey(), place),
}
