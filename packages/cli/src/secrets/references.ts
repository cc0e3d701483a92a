import { escapeReferences, expandEach, referencesIn } from '@skerry/crypto/references'
import { Failure, toFailure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import { viewValues } from './values.ts'

const literalHint = '--literal keeps the text as it is'

/** Refuses values whose references would form a cycle with each other or with the stored values. */
export async function refuseCycles(session: Session, place: Place, changes: Values, hint = literalHint): Promise<void> {
  const referring = [...changes].filter(([, value]) => referencesIn(value).length > 0)
  if (referring.length === 0) return
  const own = referring.filter(([name, value]) => referencesIn(value).includes(name)).map(([name]) => name)
  if (own.length > 0) throw usage(`${own.join(', ')} would refer to itself, and no program could get it`, hint)
  const there = await viewValues(session, place, { merged: true }).catch((error) => {
    // A credential that may write may be unable to read.
    if (toFailure(error).kind !== 'refused') throw error
  })
  const all = { ...there?.values, ...Object.fromEntries(changes) }
  const { failed } = expandEach(
    all,
    referring.map(([name]) => name),
  )
  for (const [name, { code, subject }] of failed) {
    if (code !== 'reference_cycle') continue
    throw usage(`${name} would lead to a cycle of references (${subject}), and no program could get it`, hint)
  }
}

/** Escapes the values, so that no part of them is a reference. */
export const literally = (values: Values): Values =>
  new Map([...values].map(([name, value]) => [name, escapeReferences(value)]))

/**
 * Replaces a reference of a name to itself, as in `PATH=${PATH}:/x`. Every dialect of `.env` files takes that value
 * from the environment of the program that reads the file, which is the import here.
 */
export function fromSurroundings(values: Values, environment: NodeJS.ProcessEnv): Values {
  return new Map([...values].map(([name, value]) => [name, withOwn(name, value, environment[name])]))
}

function withOwn(name: string, value: string, own: string | undefined): string {
  if (!referencesIn(value).includes(name)) return value
  if (own === undefined)
    throw new Failure('notFound', `${name} refers to itself, and is not set here`, 'set it, or mend the file')
  return value.replace(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, other) =>
    other === name ? escapeReferences(own) : whole,
  )
}

/** The hint of an import for a name that refers to itself. */
export const ownReferenceHint = `--surrounding puts in the value that it has in this environment, ${literalHint}`
