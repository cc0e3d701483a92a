import { unprovenVersions, versionOpener } from '@skerry/sdk/secret-history'
import { openDirectory } from '../directory.ts'
import { type Failure, toFailure, usage } from '../failure.ts'
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
import { ownOverrides, type Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { shownTime } from '../times.ts'
import { noSecret } from './missing.ts'
import { checkGroups, listSecrets, openKey, resolvePlace, type Viewed, viewValues } from './values.ts'

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
  const overrides = await ownOverrides(session)
  const resolved = await resolvePlace(session, place, { expand: true, with: flags.with, overrides })
  if (resolved.overridden.includes(name))
    note(`${name} is your personal override; \`--stored\` shows the value that others get`)
  return { value: pickOne(resolved, name, place), environmentId: resolved.provenance[name]!.environmentId }
}

/** Returns one value. Problems of other values do not matter here. */
function pickOne({ values, unresolved, unexpanded }: Omit<Viewed, 'sources'>, name: string, place: Place): string {
  const value = values[name]
  if (value === undefined) throw unexpanded.get(name) ?? noSecret([name], place.label, Object.keys(values))
  warnUnresolved(name, value, unresolved)
  return value
}

function warnUnresolved(name: string, value: string, unresolved: string[]): void {
  const open = unresolved.filter((other) => value.includes(`\${${other}}`))
  if (open.length > 0) warn(`${name} refers to ${open.join(', ')}, which does not exist`)
}

/** The error for a name without a history. A caller who may not list secrets gets no suggestion. */
async function missing(session: Session, name: string, place: Place): Promise<Failure> {
  const secrets = await listSecrets(session, place).catch(() => [])
  const names = secrets.map((one) => one.name)
  return noSecret([name], place.label, names)
}

async function versionOf(session: Session, { orgId }: Place, envId: string, name: string): Promise<number | null> {
  const { secrets } = await session.client.secrets.list({ params: { orgId, envId } })
  return secrets.find((one) => one.name === name)?.version ?? null
}

export async function history(
  name: string,
  { session, flags, place, input: { query } }: AtPlace<Options, typeof parseHistory>,
): Promise<Output> {
  const params = { orgId: place.orgId, envId: place.envId, name }
  const page = await session.client.secrets.versions({ params, query }).catch(async (error) => {
    throw toFailure(error).kind === 'notFound' ? await missing(session, name, place) : error
  })
  const { versions, currentVersion, keySinceVersion = 1 } = page
  const key = flags.reveal ? await openKey(session, place, 'read') : undefined
  const at = { envId: place.envId, name }
  const open = key && (await versionOpener(page, at, key.dek))
  const rows = await Promise.all(
    versions.map(async ({ ciphertext, formerName = null, ...row }) => {
      if (!open) return { ...row, formerName }
      // A version from before a re-key, or an altered one, does not open. The other versions are readable all the same.
      const value = await open({ version: row.version, ciphertext }).catch(() => null)
      return { ...row, formerName, value }
    }),
  )
  const closed = rows.filter((row) => 'value' in row && row.value === null).map(({ version }) => version)
  if (closed.length > 0) warn(`the environment’s key does not open ${closed.join(', ')}: older than it, or altered`)
  if (key) warnUnproven(name, await unprovenVersions(page, at, key.dek))
  return {
    json: { name, currentVersion, keySinceVersion, versions: rows },
    text: async () => {
      const nameOf = await openDirectory(
        session,
        rows.map(({ createdById }) => createdById),
      )
      const isRekeyed = keySinceVersion > 1
      const isRenamed = rows.some(({ formerName }) => formerName !== null)
      const header = [
        'version',
        'written',
        'by',
        'restored from',
        ...(isRenamed ? ['name then'] : []),
        ...(isRekeyed ? ['key'] : []),
        ...(key ? ['value'] : []),
      ]
      const cells = rows.map((row) => [
        row.version === currentVersion ? `${row.version} *` : String(row.version),
        shownTime(row.createdAt),
        nameOf(row.createdById) ?? row.createdById,
        row.restoredFromVersion === null ? '' : String(row.restoredFromVersion),
        ...(isRenamed ? [row.formerName ?? name] : []),
        ...(isRekeyed ? [keyWords(row.version, keySinceVersion)] : []),
        ...('value' in row ? [printable(row.value ?? '')] : []),
      ])
      writeTable(header, cells)
    },
  }
}

/** Warns of versions from before a rename that the record of former names does not prove. */
export function warnUnproven(name: string, versions: number[]): void {
  if (versions.length === 0) return
  const [them, are] = versions.length === 1 ? ['version', 'is'] : ['versions', 'are']
  warn(
    `nothing proves that ${them} ${versions.join(', ')} ${are} of ${name}: the server may hide the record of its former names, or somebody with the key stored a wrong one. Do not restore ${versions.length === 1 ? 'this version' : 'these versions'}.`,
  )
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
