import type { Outcome } from '../attack.ts'

/** The result of an act: the values that a program got, and the words that a person saw. */
export interface Seen {
  failed: boolean
  values: string
  told: string
}

/** @param honest the values that the honest server would have sent. */
export function outcomeOf({ failed, values, told }: Seen, honest: string): Outcome {
  const line = firstLine(told)
  if (failed) return { seen: 'refused', line }
  if (values === honest) return { seen: 'unharmed', line }
  return { seen: line === '' ? 'accepted' : 'warned', line }
}

/** The line that says why a command failed; warnings and the words of keys come before it. */
export const reasonOf = (stderr: string): string =>
  stderr.split('\n').find((line) => line.startsWith('skerry: ')) ?? firstLine(stderr)

export const firstLine = (text: string): string => text.split('\n').find((line) => line.trim() !== '') ?? ''
