import type { Command } from 'commander'
import { forgetProfiles, keptAside, lostKeys, type Profile, readCredentials } from '../credentials.ts'
import { Failure, toFailure } from '../failure.ts'
import { withoutSession } from '../frame.ts'
import { stopAgent } from '../keyring/agent-client.ts'
import { forgetBearer, openBearer } from '../keyring/bearer.ts'
import { shellWord } from '../labels.ts'
import { common, confirmable } from '../options.ts'
import { note, type Output, warn } from '../output.ts'
import { describeProfiles, findUsed } from '../profiles.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { connect } from '../session.ts'
import { type Flags, namedProfile, readSettings, type Settings } from '../settings.ts'

interface Options extends Flags {
  all?: boolean
  yes?: boolean
  local?: boolean
}

export function register(command: Command): void {
  confirmable(common(command))
    .option('--all', 'delete all stored credentials')
    .option('--local', 'delete the session here even if the server cannot be reached')
    .action(withoutSession(logout))
}

/**
 * Ends a person's session at the server. Tokens are only removed from this machine, because `skerry token revoke` ends
 * them.
 */
async function logout(flags: Options): Promise<Output> {
  const { profiles } = readCredentials()
  const names = flags.all ? Object.keys(profiles) : [nameOf(flags)]
  const withKeys = names.filter((name) => profiles[name]?.session === undefined)
  if (withKeys.length > 0) await confirmOrRefuse(lostKeys(withKeys), flags)
  const settings = readSettings({ ...flags, profile: undefined })
  for (const name of names) await endSession(settings, name, profiles[name], flags)
  forgetProfiles(names)
  if (names.length === 0) note('nothing is stored')
  else if (withKeys.length > 0) note(`removed ${names.join(', ')}; the server still knows the token`)
  else note(`signed out: removed ${names.join(', ')}`)
  const aside = keptAside()
  if (aside.length > 0) note(`still kept here, for --profile: ${aside.join(', ')}`)
  if (names.length > 0) tellRemaining(flags)
  return { json: { removed: names } }
}

const remaining = { token: 'the token', machine: 'the machine client', person: 'the person' }

/** Names a stored credential that commands use from now on, because it may read more than the one that is gone. */
function tellRemaining(flags: Flags): void {
  const used = describeProfiles(findUsed({ ...flags, profile: undefined })).find(({ isUsed }) => isUsed)
  if (used === undefined) return
  const { kind, who, name } = used
  warn(
    `commands now act as ${remaining[kind]} ${who} in profile ${name}, which is still stored here; remove it with \`skerry profile rm ${shellWord(name)}\``,
  )
}

async function endSession(settings: Settings, name: string, profile: Profile | undefined, { local }: Options) {
  const session = profile?.session
  if (!profile || !session) return
  const { url } = profile
  await stopAgent(url, session.userId)
  try {
    const client = connect({ ...settings, url }, { bearer: await openBearer(name, session) })
    await client.cliSessions.revoke({ params: { cliSessionId: session.id } })
  } catch (error) {
    const { kind, message } = toFailure(error)
    // The server refuses a session that has already ended.
    if (kind !== 'refused' && !local) {
      throw new Failure(kind, `the session was not ended (${message})`, 'try again, or forget it here with --local')
    }
    if (kind !== 'refused') warn(`session ${session.id} still works for anyone who has a copy: ${message}`)
  }
  await forgetBearer(name)
}

function nameOf(flags: Flags): string {
  if (flags.profile !== undefined) return namedProfile(flags.profile).name
  const { credential } = readSettings(flags)
  if (credential.from === 'profile') return credential.name
  if (credential.from === 'machine' && credential.cached) return credential.name
  throw new Failure('notFound', 'nothing is stored for this server and organization', 'see `skerry whoami`')
}
