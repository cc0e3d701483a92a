import { randomBytes } from 'node:crypto'
import { escapeReferences } from '@skerry/crypto/references'
import { putSecret, rewriteIfRekeyed } from '@skerry/sdk/secrets'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { readValue, whyNotArguments } from '../input.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output, warn } from '../output.ts'
import type { Flags } from '../settings.ts'
import { trySet } from './dry-run.ts'
import { refuseIfProtected, refuseQueued } from './protection.ts'
import { noteOf, type Queueing, tellQueued } from './queued.ts'
import { refuseCycles } from './references.ts'
import { checkValue, openKey } from './values.ts'

interface Options extends Flags, Queueing {
  file?: string
  random?: string
  trim?: boolean
  empty?: boolean
  literal?: boolean
  expectedVersion?: string
  dryRun?: boolean
}

export async function set(
  name: string,
  _extra: string[],
  { session, flags, place, input: { expected, generated } }: AtPlace<Options, typeof parseSet>,
): Promise<Output> {
  const read = generated ?? (await readOne(name, flags))
  const value = flags.literal ? escapeReferences(read) : read
  checkValue(name, value)
  await refuseCycles(session, place, new Map([[name, value]]))
  if (flags.dryRun) return trySet(session, place, { name, ...expected }, flags)
  await refuseIfProtected(session, place, flags)
  const { orgId, envId, label } = place
  const key = await openKey(session, place)
  const options = { ...expected, ...noteOf(flags) }
  try {
    const answer = await putSecret(session.client, { orgId, envId, name }, value, key.dek, options)
    if ('queued' in answer) {
      refuseQueued(answer.changeRequest, place, flags)
      return tellQueued(answer, label)
    }
    const written = [{ name, value, version: answer.secret.version }]
    const [{ version } = answer.secret] = await rewriteIfRekeyed(
      session.client,
      place,
      await session.key(),
      key,
      written,
    )
    note(`wrote ${name} in ${label}, version ${version}`)
    return { json: { name, version, environmentId: envId } }
  } catch (error) {
    throw isConflict(error) ? changed(name, label, flags.expectedVersion) : error
  }
}

export function parseSet(flags: Options, name: string, extra: string[]) {
  // Check for a value first: `secrets set NAME=value` is the same mistake as a second argument.
  if (extra.length > 0 || name.includes('='))
    throw usage(whyNotArguments, 'pipe the value in, use --file, or type it when asked')
  checkSecretName(name)
  const expected = expectedVersion(flags)
  const generated = flags.random === undefined ? undefined : randomValue(flags.random, '--random')
  return { expected, generated }
}

export async function readOne(name: string, flags: Pick<Options, 'file' | 'trim' | 'empty'>): Promise<string> {
  const read = await readValue(name, flags)
  const value = flags.trim ? read.replace(/\r?\n$/, '') : read
  if (value === '' && !flags.empty) {
    throw usage(`the value of ${name} is empty`, 'if that is meant, add --empty')
  }
  if (/\n$/.test(value)) warn(`the value of ${name} ends with a line break, which is kept; --trim takes one off`)
  return value
}

/** Letters and digits only, so that no shell, URL or file format needs to quote it. */
export function randomValue(length: string, option: string): string {
  const characters = Number(length)
  if (!Number.isInteger(characters) || characters < 1 || characters > 4096) {
    throw usage(`${option} must be a whole number from 1 to 4096`)
  }
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
  // Bytes from the last, incomplete round would make the first characters more likely.
  const even = 256 - (256 % alphabet.length)
  let value = ''
  while (value.length < characters) {
    for (const byte of randomBytes(characters)) {
      if (byte < even && value.length < characters) value += alphabet[byte % alphabet.length]
    }
  }
  return value
}

export function expectedVersion(flags: { expectedVersion?: string }): { expectedVersion?: number } {
  if (flags.expectedVersion === undefined) return {}
  return { expectedVersion: wholeNumber(flags.expectedVersion, '--expected-version') }
}

export function wholeNumber(text: string, what: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  throw usage(`${what} is a whole number`)
}

/** Whether the server refused the expected version. A `Failure` of this command says more than `changed` would. */
export const isConflict = (error: unknown) => !(error instanceof Failure) && toFailure(error).kind === 'conflict'

export function changed(name: string, label: string, expected: string | undefined): Failure {
  const at = expected === undefined ? 'no longer at the version that was read' : `not at version ${expected}`
  return new Failure(
    'conflict',
    `${name} in ${label} is ${at}: someone else changed it; nothing was written`,
    'look at it with `skerry secrets history`, and try again with its current version',
  )
}
