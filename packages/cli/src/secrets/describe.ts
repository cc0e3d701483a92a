import { readFileSync } from 'node:fs'
import { type DetailsChange, describeSecret, listDetails, type SecretDetails } from '@skerry/sdk/secret-details'
import { openDirectory, principalIdOf } from '../directory.ts'
import { parseDuration } from '../duration.ts'
import { describe as describeFailure, Failure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { placeOptions } from '../labels.ts'
import { checkSecretName } from '../names.ts'
import { note, type Output, printable, warn, writeLine } from '../output.ts'
import type { Flags } from '../settings.ts'
import { openKey } from './values.ts'

interface Options extends Flags {
  description?: string
  /** False for `--no-tags`. */
  tag?: string[]
  tags?: boolean
  owner?: string | false
  expires?: string | false
  notNeeded?: boolean
  needed?: boolean
}

/** Describes a secret; without options, shows what is noted about it. */
export async function describe(
  name: string,
  { session, flags, place, input }: AtPlace<Options, typeof parseDescribe>,
): Promise<Output> {
  const { dek } = await openKey(session, place)
  const { orgId, envId, label } = place
  const change = await changeOf(input, flags, (owner) => principalIdOf(session, owner, '--owner'))
  const isChange = Object.keys(change).length > 0
  const details = isChange
    ? await describeSecret(session.client, { orgId, envId, name }, change, dek).catch((error) => {
        throw isClosed(error) ? closedDescription(name, label) : error
      })
    : (await listDetails(session.client, place, dek)).find((one) => one.name === name)
  if (isChange) note(details ? `described ${name} in ${label}` : `nothing is noted about ${name} in ${label} any more`)
  else if (!details) note(`nothing is noted about ${name} in ${label}`)
  if (details && !details.isReadable) warn(describeFailure(closedDescription(name, label)))
  return {
    json: { name, details: details ?? null, environmentId: envId },
    text: async () => {
      if (!details) return
      const nameOf = await openDirectory(session, [details.ownerId])
      for (const line of linesOf(details, nameOf(details.ownerId))) writeLine(line)
    },
  }
}

/** Returns true if an error says that a text did not open. */
export const isClosed = (error: unknown): boolean => (error as { code?: unknown }).code === 'decryption_failed'

/** The error for a description that is older than the key or was altered, with the command that replaces it. */
export const closedDescription = (name: string, label: string, but = ''): Failure =>
  new Failure(
    'failure',
    `the key of ${label} does not open the description and the tags of ${name}${but}`,
    `write both anew with \`skerry secrets describe ${name} --description '' --no-tags ${placeOptions(label)}\``,
  )

const dateForm = /^\d{4}-\d{2}-\d{2}$/

export function parseDescribe(flags: Options, name: string) {
  checkSecretName(name)
  if (flags.notNeeded && flags.needed) throw usage('--not-needed and --needed cannot be used together')
  if (flags.tag && flags.tags === false) throw usage('--tag and --no-tags cannot be used together')
  return {
    description: flags.description === '-' ? readFileSync(0, 'utf8').trimEnd() : flags.description,
    expiresAt: typeof flags.expires === 'string' ? instantOf(flags.expires) : undefined,
  }
}

/** Reads a date, which begins at midnight UTC, or a time from now. */
function instantOf(text: string): string {
  if (!dateForm.test(text)) return new Date(Date.now() + parseDuration(text, '--expires') * 1000).toISOString()
  const date = new Date(`${text}T00:00:00.000Z`)
  // JavaScript reads 30 February as 2 March.
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(text))
    throw usage(`--expires ${text} is not a date`)
  return date.toISOString()
}

async function changeOf(
  { description, expiresAt }: ReturnType<typeof parseDescribe>,
  { tag, tags, owner, expires, notNeeded, needed }: Options,
  idOf: (owner: string) => Promise<string>,
): Promise<DetailsChange> {
  return {
    ...(description !== undefined && { description }),
    ...(tags === false ? { tags: [] } : tag && { tags: tag }),
    ...(owner === false ? { ownerId: null } : owner !== undefined && { ownerId: await idOf(owner) }),
    ...(expires === false ? { expiresAt: null } : expiresAt !== undefined && { expiresAt }),
    ...(notNeeded && { notNeeded: true }),
    ...(needed && { notNeeded: false }),
  }
}

function linesOf({ description, tags, ownerId, expiresAt, notNeeded }: SecretDetails, owner: string | undefined) {
  return [
    ...(description === '' ? [] : description.split('\n').map(printable)),
    ...(tags.length === 0 ? [] : [`tags: ${tags.map(printable).join(', ')}`]),
    ...(ownerId === null ? [] : [`owner: ${owner ?? ownerId}`]),
    ...(expiresAt === null ? [] : [`expires: ${expiresAt.slice(0, 10)}`]),
    ...(notNeeded ? ['not needed in this environment'] : []),
  ]
}
