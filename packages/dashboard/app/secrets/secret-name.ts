import { secretNamePattern } from '@skerry/contract/patterns'
import { secretNameMessage } from '../form/messages.ts'
import type { Column } from './columns.ts'

const validName = new RegExp(secretNamePattern)

/** Returns why no secret can have this name. An empty field has no problem yet. */
export const nameProblem = (name: string): string | null =>
  name === '' || validName.test(name) ? null : secretNameMessage

/** Returns why these environments cannot store a new secret of this name. */
export function newNameProblem(name: string, columns: Column[]): string | null {
  const taken = columns.filter(({ entries }) => entries.get(name)?.own)
  if (taken.length === 0) return nameProblem(name)
  return `${taken.map((column) => column.name).join(', ')} already ${taken.length === 1 ? 'has' : 'have'} a secret ${name}.`
}
