import { referencesIn } from '@skerry/crypto/references'
import { Failure, toFailure, usage } from '../failure.ts'
import type { Values } from '../formats/names.ts'
import type { AtPlace } from '../frame.ts'
import { checkSecretName } from '../names.ts'
import { orNearestOf } from '../nearest.ts'
import { type Output, warn } from '../output.ts'
import { findPlace, type Place, parsePlace } from '../places.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { checkOverwriting, type Overwriting, writeValues } from './import.ts'
import { checkValue, type StoredSecret, storedSecrets, viewValues } from './values.ts'

interface Options extends Flags, Overwriting {
  to: string
  all?: boolean
  except?: string[]
}

/**
 * Copies stored texts to another environment. They are decrypted here and encrypted for the other environment, so a
 * reference stays a reference, and stands for the value that the other environment has.
 */
export async function copy(
  _given: string[],
  { session, flags, place, input: { names } }: AtPlace<Options, typeof parseCopy>,
): Promise<Output> {
  const target = await findPlace(session, parsePlace(flags.to))
  if (target.envId === place.envId)
    throw usage(`--to names ${place.label}, from which the secrets are copied`, 'name another environment')
  const values = pickValues(await storedSecrets(session, place), names, place)
  for (const name of flags.except ?? []) {
    if (!values.delete(name)) throw usage(`--except names ${name}, which ${place.label} does not store`)
  }
  for (const [name, value] of values) checkValue(name, value)
  await warnReferences(session, target, values)
  const hint = 'copy without it, or change the reference first with `skerry secrets edit`'
  return writeValues(session, target, values, { ...flags, hint })
}

export function parseCopy(flags: Options, given: string[]) {
  if (flags.all && given.length > 0) throw usage('--all takes no names', 'leave out --all, or the names')
  if (!flags.all && given.length === 0) throw usage('no secret is named', 'name secrets, or copy all with --all')
  if (flags.except && !flags.all) throw usage('--except needs --all')
  checkOverwriting(flags)
  const { app, group } = parsePlace(flags.to)
  if (flags.group !== undefined && app === undefined && group === undefined)
    throw usage(
      `--to ${flags.to} names no application and no group`,
      `write app/${flags.to} or ${flags.group}:${flags.to}`,
    )
  return { names: flags.all ? undefined : [...new Set(given.map(checkSecretName))] }
}

function pickValues(stored: StoredSecret[], names: string[] | undefined, { label }: Place): Values {
  const values: Values = new Map(stored.map(({ name, value }) => [name, value]))
  if (names === undefined) return values
  const missing = names.filter((name) => !values.has(name))
  if (missing.length > 0)
    throw new Failure(
      'notFound',
      `${label} does not store ${missing.join(', ')}; nothing was copied`,
      orNearestOf(missing, [...values.keys()], 'see the column SOURCE of `skerry secrets ls`, and copy from there'),
    )
  return new Map(names.map((name) => [name, values.get(name)!]))
}

/** Warns about references to names that programs in the target would not find. */
async function warnReferences(session: Session, target: Place, values: Values): Promise<void> {
  const referred = new Set([...values.values()].flatMap(referencesIn))
  if (referred.size === 0) return
  const present = await viewValues(session, target, { merged: true }).catch((error) => {
    // The credential may lack the key of a group in the target.
    if (toFailure(error).kind !== 'refused') throw error
  })
  if (!present) return
  const missing = [...referred].filter((name) => !values.has(name) && !Object.hasOwn(present.values, name))
  if (missing.length > 0) warn(`the copied values refer to ${missing.join(', ')}, which ${target.label} does not have`)
}
