import type { Command } from 'commander'
import {
  credentialsPath,
  forgetProfiles,
  isReplaced,
  lostKeys,
  type Profile,
  readCredentials,
  updateCredentials,
} from '../credentials.ts'
import { Failure, usage } from '../failure.ts'
import { withoutSession } from '../frame.ts'
import { stopAgent } from '../keyring/agent-client.ts'
import { forgetBearer } from '../keyring/bearer.ts'
import { confirmable, leaf } from '../options.ts'
import { note, type Output, writeLine, writeTable } from '../output.ts'
import { type DescribedProfile, describeProfile, describeProfiles, findUsed } from '../profiles.ts'
import { confirmOrRefuse } from '../prompt.ts'
import { type Confirmable, type Flags, namedProfile } from '../settings.ts'
import { shownMoment } from '../times.ts'

export function register(command: Command): void {
  leaf(command, 'ls', 'List stored credentials, and show which one commands use here').action(withoutSession(list))
  leaf(command, 'show [name]', 'Show a stored credential (default: the one that is used here)').action(
    withoutSession(show),
  )
  leaf(command, 'use <name>', 'Make a stored credential the default').action(withoutSession(use))
  confirmable(leaf(command, 'rm <name>', 'Delete a stored credential; `skerry logout` also ends the session')).action(
    withoutSession(remove),
  )
}

async function list(flags: Flags): Promise<Output> {
  const used = findUsed(flags)
  const profiles = describeProfiles(used)
  return {
    json: { profiles, used },
    text: () =>
      writeTable(
        ['name', 'kind', 'who', 'organization', 'server', ''],
        profiles.map((one) => [one.name, one.kind, one.who, one.organization ?? 'all', one.url, marksOf(one)]),
        'nothing is stored here; sign in with `skerry login`',
      ),
    after: () => {
      note(used.why)
      if (profiles.length === 0) note('next: `skerry login`, or `skerry signup <name>` for a new organization')
    },
  }
}

function marksOf({ isUsed, isDefault, isReplaced }: DescribedProfile): string {
  const marks = [isUsed && 'used here', isDefault && 'default', isReplaced && 'replaced']
  return marks.filter(Boolean).join(', ')
}

async function show(named: string | undefined, flags: Flags): Promise<Output> {
  const used = findUsed(flags)
  const wanted = named ?? used.name
  if (wanted === null) throw new Failure('notFound', used.why, 'name one that `skerry profile ls` shows')
  const { name, profile } = namedProfile(wanted)
  const described = describeProfile(name, profile, { current: readCredentials().current, used })
  return {
    json: { ...described, file: credentialsPath() },
    text: () => {
      writeLine(`${name}: ${described.kind} ${described.who}`)
      writeLine(`id: ${described.id}`)
      writeLine(`server: ${described.url}`)
      writeLine(`organization: ${described.organization ?? 'every one that this person is in'}`)
      if (profile.session)
        writeLine(`session: until ${shownMoment(profile.session.expiresAt)}, kept ${placeOf(profile.session)}`)
      writeLine(`file: ${credentialsPath()}`)
      const marks = marksOf(described)
      if (marks !== '') writeLine(marks)
    },
    after: () => note(used.why),
  }
}

const placeOf = ({ sealed }: { sealed?: string }) =>
  sealed === undefined ? 'in the system’s keyring' : 'in the credentials file, sealed'

async function use(wanted: string, flags: Flags): Promise<Output> {
  const { name } = namedProfile(wanted)
  if (isReplaced(name)) {
    throw usage(`${name} is a replaced token and cannot be the default`, `use it with --profile ${name}`)
  }
  updateCredentials((file) => {
    if (!Object.hasOwn(file.profiles, name)) throw new Failure('notFound', `there is no profile '${name}' any more`)
    file.current = name
  })
  note(`${name} is the default now`)
  const used = findUsed(flags)
  if (used.name !== name) note(used.why)
  return { json: { default: name, used } }
}

async function remove(wanted: string, flags: Confirmable): Promise<Output> {
  const { name, profile } = namedProfile(wanted)
  await confirmOrRefuse(effectOf(name, profile), flags)
  const current = forgetProfiles([name])
  const { session, url } = profile
  if (session) {
    await stopAgent(url, session.userId)
    await forgetBearer(name)
    note(`forgot ${name}; its session is still open at the server: end it with \`skerry sessions revoke\``)
  } else note(`forgot ${name}; ${whereTokenIs(profile)}`)
  note(current === null ? 'nothing is stored any more' : `the default is ${current}`)
  return { json: { removed: name, default: current } }
}

/** After a move to another address, another profile has the same token: to revoke it would end both. */
function whereTokenIs({ token }: Profile): string {
  const other = Object.entries(readCredentials().profiles).find(([, one]) => token !== undefined && one.token === token)
  return other
    ? `the profile ${other[0]} has the same token`
    : 'the server still knows the token: end it with `skerry token revoke`'
}

function effectOf(name: string, { session }: Profile): string {
  if (!session) return lostKeys([name])
  return `forgets ${name} on this machine, and leaves its session open at the server (\`skerry logout --profile ${name}\` ends it, too)`
}
