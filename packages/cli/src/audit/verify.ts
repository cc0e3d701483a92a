import { join } from 'node:path'
import {
  compareCheckpoints,
  type Finding,
  fetchCheckpoint,
  type SeenCheckpoint,
  type Verified,
  verifyTrail,
} from '@skerry/sdk/internal/audit-proof'
import { Failure } from '../failure.ts'
import { readIfThere, writePrivate } from '../files.ts'
import { stateFolder } from '../folders.js'
import type { InOrg } from '../frame.ts'
import { readTextFile } from '../input.ts'
import { note, type Output, warn, writeData, writeLine } from '../output.ts'
import type { Session } from '../session.ts'
import type { Flags } from '../settings.ts'
import { checkPublicKey, isOfUnknownKey, readArchive, unknownKey } from './archive.ts'

type VerifyFlags = Flags & { archive?: string[]; restored?: boolean; key?: string }

/** The checkpoint that this machine saw last, and the keys with which the server signed before. */
interface Remembered extends SeenCheckpoint {
  earlierKeys: string[]
}

/** What a restored server shows, although nobody changed its log. `--restored` starts anew from its log. */
const ofRestore: readonly Finding['kind'][] = ['other_key', 'shorter', 'other_history']
const isOfRestore = ({ kind }: Finding): boolean => ofRestore.includes(kind)

export async function verify({ session, flags, orgId }: InOrg<VerifyFlags>): Promise<Output> {
  const seen = recallCheckpoint(session, orgId)
  const current = flags.archive && (await fetchCheckpoint(session.client, orgId)).publicKey
  const keys = keysOf([current], seen, flags)
  const archives = await Promise.all((flags.archive ?? []).map((path) => readArchive(path, keys)))
  const verified = await verifyTrail(session.client, orgId, seen, archives)
  const { size, checkpoint, publicKey, archived } = verified
  const findings = verified.findings.filter((one) => !(flags.restored && isOfRestore(one)))
  if (flags.restored) for (const { message } of verified.findings.filter(isOfRestore)) warn(`accepted: ${message}`)
  const json = { size, checkpoint, archived, findings }
  if (findings.length > 0) {
    return {
      json,
      after: () => {
        throw tell(findings)
      },
    }
  }
  return {
    json,
    after: () => {
      const earlierKeys = keysOf([], seen, {}).filter((key) => key !== publicKey)
      rememberCheckpoint(session, orgId, { note: checkpoint, publicKey, earlierKeys })
    },
    text: () => {
      writeLine(
        size === 1 ? 'the entry matches the server’s signature' : `all ${size} entries match the server’s signature`,
      )
      if (archived.entries > 0) note(archivedWords(archived))
      note(
        seen && !verified.findings.some(isOfRestore)
          ? 'they continue the log that this machine verified before'
          : 'this machine verified this log for the first time',
      )
    },
  }
}

const archivedWords = ({ entries, unread }: Verified['archived']): string =>
  unread === 0
    ? `${entries} of them are in the archives that you gave`
    : `${entries} of them are in archives of the operator; you did not give the files of ${unread} with --archive`

type CompareFlags = Flags & { compare?: string; key?: string }

export async function checkpoint({ session, flags, orgId }: InOrg<CompareFlags>): Promise<Output> {
  const mine = await fetchCheckpoint(session.client, orgId)
  const { publicKey } = mine
  const seen = recallCheckpoint(session, orgId)
  const findings: Finding[] = [...mine.unsealed]
  if (seen && seen.publicKey !== publicKey)
    throw tell([{ kind: 'other_key', message: 'the server signs with a different key than before' }])
  const publicKeys = keysOf([publicKey], seen, flags)
  const others = [seen?.note, flags.compare && readTextFile(flags.compare)].filter((text) => text !== undefined)
  for (const other of others) {
    const notes = [other, mine.note] as const
    const finding = await compareCheckpoints(session.client, orgId, { publicKeys, notes }).catch((error) => {
      throw isOfUnknownKey(error) ? unknownKey(flags.compare as string) : error
    })
    if (finding) findings.push(finding)
  }
  if (findings.length > 0) throw tell(findings)
  if (flags.compare !== undefined) note('both belong to the same audit log')
  return { json: { checkpoint: mine.note, size: mine.parsed.size, publicKey }, text: () => writeData(mine.note) }
}

/** Every key with which the server signs, or has signed as far as this machine or the user knows. */
const keysOf = (current: readonly (string | undefined)[], seen: Remembered | undefined, { key }: { key?: string }) => [
  ...new Set([...current, seen?.publicKey, ...(seen?.earlierKeys ?? []), key].filter((one) => one !== undefined)),
]

export const checkKey = ({ key }: { key?: string }): void => {
  if (key !== undefined) checkPublicKey(key)
}

function tell(findings: Finding[]): Failure {
  const shown = 20
  for (const { message, index } of findings.slice(0, shown))
    note(index === undefined ? message : `${message} (at ${index})`)
  if (findings.length > shown) note(`and ${findings.length - shown} more`)
  const next =
    'keep this machine’s state folder, and ask another person to compare with `skerry audit checkpoint --compare`'
  const restored =
    'if your operator restored this server or organization, run `skerry audit verify --restored`. If not, '
  return new Failure('refused', 'the audit log was changed', findings.every(isOfRestore) ? `${restored}${next}` : next)
}

const pathOf = ({ settings }: Session, orgId: string) =>
  join(stateFolder(), 'checkpoints', `${encodeURIComponent(settings.url)} ${orgId}.json`)

function recallCheckpoint(session: Session, orgId: string): Remembered | undefined {
  const path = pathOf(session, orgId)
  const text = readIfThere(path)
  if (text === null) return undefined
  try {
    const { note, publicKey, earlierKeys = [] } = JSON.parse(text)
    if (typeof note === 'string' && typeof publicKey === 'string' && Array.isArray(earlierKeys))
      return { note, publicKey, earlierKeys }
  } catch {}
  throw new Failure(
    'failure',
    `${path} is damaged`,
    'find out why before you delete it: it proves what this machine saw before',
  )
}

const rememberCheckpoint = (session: Session, orgId: string, seen: Remembered) =>
  writePrivate(pathOf(session, orgId), JSON.stringify(seen))
