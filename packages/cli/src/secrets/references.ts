import { escapeReferences, expandEach, referencesIn } from '@skerry/crypto/references'
import { Failure, toFailure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import { viewValues } from './values.ts'

const literalHint = '--literal keeps the text as it is'

/** Refuses values whose references would go round in circles, together with what is there already. */
export async function refuseCycles(session: Session, place: Place, changes: Values, hint = literalHint): Promise<void> {
  const referring = [...changes].filter(([, value]) => referencesIn(value).length > 0)
  if (referring.length === 0) return
  const own = referring.filter(([name, value]) => referencesIn(value).includes(name)).map(([name]) => name)
  if (own.length > 0) throw usage(`${own.join(', ')} would refer to itself, and no program could get it`, hint)
  const there = await viewValues(session, place, { merged: true }).catch((error) => {
    // Not everybody who may write may read.
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

/** Texts as they are: nothing in them is a reference. */
export const literally = (values: Values): Values =>
  new Map([...values].map(([name, value]) => [name, escapeReferences(value)]))

/**
 * In `PATH=${PATH}:/x`, every dialect of `.env` files means the PATH of the environment that reads the file. Here that is
 * the one that the import runs in.
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

/** What an import says when a name refers to itself. */
export const ownReferenceHint = `--surrounding puts in the value that it has in this environment, ${literalHint}`
