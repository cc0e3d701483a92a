import { openSecret } from '@skerry/crypto/secret'
import { openDirectory } from '../directory.ts'
import { Failure, toFailure, usage } from '../failure.ts'
import type { AtPlace } from '../frame.ts'
import { checkSecretName } from '../names.ts'
import { parseLimit } from '../options.ts'
import {
  isTerminal,
  maskedValue,
  note,
  type Output,
  printable,
  showsValues,
  warn,
  writeData,
  writeTable,
} from '../output.ts'
import type { Place } from '../places.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { checkGroups, openKey, resolvePlace, type Viewed, viewValues } from './values.ts'

interface Options extends Flags {
  reveal?: boolean
  stored?: boolean
  limit?: string
  with?: string[]
}

/** Shows a value as a program would get it, or with `--stored` as this environment stores it. */
export async function get(name: string, { session, flags, place }: AtPlace<Options>): Promise<Output> {
  checkGroups(place, flags.with)
  const found =
    flags.stored || place.kind === 'group'
      ? await own(session, place, name, flags)
      : await merged(session, place, name, flags)
  const shown = showsValues(flags)
  const { value, environmentId } = found
  return {
    json: async () => {
      const version = await versionOf(session, place, environmentId, name)
      return { name, value: shown ? value : null, masked: !shown, version, environmentId }
    },
    text: () => {
      if (!shown) note('the value is not shown on a terminal: add --reveal, or pipe it')
      writeData(shown ? value : `${maskedValue}\n`)
      // A line break keeps the shell's prompt off the line of the value. A pipe gets only the value.
      if (shown && isTerminal.stdout()) writeData('\n')
    },
  }
}

export function checkGet(flags: Options, name: string): void {
  checkSecretName(name)
  if (flags.stored && flags.with) throw usage('--stored and --with cannot be used together')
}

interface Found {
  value: string
  environmentId: string
}

async function own(session: Session, place: Place, name: string, { stored }: Options): Promise<Found> {
  const viewed = await viewValues(session, place, { stored })
  return { value: pickOne(viewed, name, place), environmentId: place.envId }
}

async function merged(session: Session, place: Place, name: string, flags: Options): Promise<Found> {
  const resolved = await resolvePlace(session, place, { expand: true, with: flags.with })
  return { value: pickOne(resolved, name, place), environmentId: resolved.provenance[name]!.environmentId }
}

/** Returns one value. Problems of other values do not matter here. */
function pickOne({ values, unresolved, unexpanded }: Omit<Viewed, 'sources'>, name: string, place: Place): string {
  const value = values[name]
  if (value === undefined) throw unexpanded.get(name) ?? missing(name, place)
  warnUnresolved(name, value, unresolved)
  return value
}

function warnUnresolved(name: string, value: string, unresolved: string[]): void {
  const open = unresolved.filter((other) => value.includes(`\${${other}}`))
  if (open.length > 0) warn(`${name} refers to ${open.join(', ')}, which does not exist`)
}

const missing = (name: string, place: Place) =>
  new Failure('notFound', `there is no secret ${name} in ${place.label}`, 'see `skerry secrets ls`')

async function versionOf(session: Session, { orgId }: Place, envId: string, name: string): Promise<number | null> {
  const { secrets } = await session.client.secrets.list({ params: { orgId, envId } })
  return secrets.find((one) => one.name === name)?.version ?? null
}

export async function history(
  name: string,
  { session, flags, place, input: { query } }: AtPlace<Options, typeof parseHistory>,
): Promise<Output> {
  const params = { orgId: place.orgId, envId: place.envId, name }
  const {
    versions,
    currentVersion,
    keySinceVersion = 1,
  } = await session.client.secrets.versions({ params, query }).catch((error) => {
    throw toFailure(error).kind === 'notFound' ? missing(name, place) : error
  })
  const key = flags.reveal ? await openKey(session, place) : undefined
  const rows = await Promise.all(
    versions.map(async ({ ciphertext, ...row }) => {
      if (!key) return row
      // A version from before a re-key, or an altered one, does not open. The other versions are readable all the same.
      const value = await openSecret(ciphertext, key.dek, place.envId, name).catch(() => null)
      return { ...row, value }
    }),
  )
  const closed = rows.filter((row) => 'value' in row && row.value === null).map(({ version }) => version)
  if (closed.length > 0) warn(`the environment’s key does not open ${closed.join(', ')}: older than it, or altered`)
  return {
    json: { name, currentVersion, keySinceVersion, versions: rows },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        rows.map(({ createdById }) => createdById),
      )
      const isRekeyed = keySinceVersion > 1
      const header = [
        'version',
        'written',
        'by',
        'restored from',
        ...(isRekeyed ? ['key'] : []),
        ...(key ? ['value'] : []),
      ]
      const cells = rows.map((row) => [
        row.version === currentVersion ? `${row.version} *` : String(row.version),
        shownTime(row.createdAt),
        nameOf(row.createdById) ?? row.createdById,
        row.restoredFromVersion === null ? '' : String(row.restoredFromVersion),
        ...(isRekeyed ? [keyWords(row.version, keySinceVersion)] : []),
        ...('value' in row ? [printable(row.value ?? '')] : []),
      ])
      writeTable(header, cells)
    },
  }
}

/** A re-key writes a version with the same value. Versions before it are encrypted with a key that is gone. */
function keyWords(version: number, keySinceVersion: number): string {
  if (version === keySinceVersion) return 're-key, same value'
  return version < keySinceVersion ? 'old key, cannot be restored' : ''
}

export function parseHistory(flags: Options, name: string) {
  checkSecretName(name)
  const query = flags.limit === undefined ? {} : { limit: parseLimit(flags.limit, 1) }
  return { query }
}
