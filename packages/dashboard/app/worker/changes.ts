import { openSecret } from '@skerry/crypto/secret'
import { dekOf } from './deks.ts'

/** The old and the new side of a proposed change, as ciphertext. A side without a value is null. */
interface SealedSides {
  wrappedDek: string
  environmentId: string
  name: string
  current: string | null
  proposed: string | null
}

export interface Line {
  kind: 'same' | 'removed' | 'added'
  text: string
}

async function openSides({ wrappedDek, environmentId, name, current, proposed }: SealedSides) {
  const dek = await dekOf(wrappedDek)
  const open = async (sealed: string | null) => (sealed === null ? null : openSecret(sealed, dek, environmentId, name))
  return { before: await open(current), after: await open(proposed).catch(() => undefined) }
}

export const changeOperations = {
  /**
   * Says what a change would do, without any value. `unreadable` means that the proposed value cannot be decrypted with
   * this key.
   */
  compareSides: async (sides: SealedSides): Promise<'new' | 'changed' | 'same' | 'deleted' | 'unreadable'> => {
    const { before, after } = await openSides(sides)
    if (after === undefined) return 'unreadable'
    if (after === null) return 'deleted'
    if (before === null) return 'new'
    return before === after ? 'same' : 'changed'
  },

  /**
   * Compares the values line by line. Common lines at the beginning and the end are the same. All lines between them
   * count as removed or added.
   */
  diffSides: async (sides: SealedSides): Promise<Line[]> => {
    const { before, after } = await openSides(sides)
    return linesOf(before?.split('\n') ?? [], after?.split('\n') ?? [])
  },
}

function linesOf(before: string[], after: string[]): Line[] {
  const least = Math.min(before.length, after.length)
  let head = 0
  while (head < least && before[head] === after[head]) head++
  let tail = 0
  while (tail < least - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  const lines = (kind: Line['kind'], texts: string[]) => texts.map((text): Line => ({ kind, text }))
  return [
    ...lines('same', before.slice(0, head)),
    ...lines('removed', before.slice(head, before.length - tail)),
    ...lines('added', after.slice(head, after.length - tail)),
    ...lines('same', before.slice(before.length - tail)),
  ]
}
