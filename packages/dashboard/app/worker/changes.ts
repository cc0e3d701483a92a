import { openSecret } from '@skerry/crypto/secret'
import { openProven } from '@skerry/sdk/secret-history'
import { dekOf } from './deks.ts'
import { diffLines, type Line } from './diff-lines.ts'

/** The old and the new side of a proposed change, as ciphertext. A side without a value is null. */
interface SealedSides {
  wrappedDek: string
  environmentId: string
  name: string
  current: string | null
  proposed: string | null
}

/** The version that a restore names, or the last version of a deleted secret. */
interface SealedOriginal {
  isDeleted: boolean
  version: number
  ciphertext: string | undefined
  formerNames: string | null
}

async function openerOf({ wrappedDek, environmentId, name }: SealedSides) {
  const dek = await dekOf(wrappedDek)
  return async (sealed: string | null) => (sealed === null ? null : openSecret(sealed, dek, environmentId, name))
}

export const changeOperations = {
  /**
   * Says what a change would do, without any value. `unreadable` means that the proposed value cannot be decrypted with
   * this key.
   */
  compareSides: async (sides: SealedSides): Promise<'new' | 'changed' | 'same' | 'deleted' | 'unreadable'> => {
    const open = await openerOf(sides)
    const before = await open(sides.current)
    const after = await open(sides.proposed).catch(() => undefined)
    if (after === undefined) return 'unreadable'
    if (after === null) return 'deleted'
    if (before === null) return 'new'
    return before === after ? 'same' : 'changed'
  },

  /**
   * Compares the value of a restore, which the proposer encrypted anew, with the version or the deleted secret that it names.
   * `unproven` means that the original is not found or does not open, or that nothing proves the version, so nobody can compare.
   */
  compareRestored: async (
    given: SealedSides & { restored: SealedOriginal },
  ): Promise<'same' | 'different' | 'unproven'> => {
    const { wrappedDek, environmentId: envId, name, restored } = given
    const { isDeleted, version, ciphertext, formerNames } = restored
    if (ciphertext === undefined) return 'unproven'
    const dek = await dekOf(wrappedDek)
    const original = await (isDeleted
      ? openSecret(ciphertext, dek, envId, name)
      : openProven({ formerNames }, { envId, name }, { version, ciphertext }, dek)
    ).catch(() => undefined)
    if (original === undefined) return 'unproven'
    return original === (await (await openerOf(given))(given.proposed)) ? 'same' : 'different'
  },

  /** Compares the values line by line. */
  diffSides: async (sides: SealedSides): Promise<Line[]> => {
    const open = await openerOf(sides)
    const [before, after] = await Promise.all([open(sides.current), open(sides.proposed)])
    return diffLines(before?.split('\n') ?? [], after?.split('\n') ?? [])
  },
}
