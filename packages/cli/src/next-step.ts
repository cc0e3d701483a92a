import type { Answer } from '@skerry/contract/endpoint'
import type { me } from '@skerry/contract/me/endpoints'
import type { Client } from '@skerry/sdk/client'
import { describe, toFailure } from './failure.ts'
import { tellHowToShare } from './first-run/person.ts'
import { ownerOf } from './keyring/owner.ts'
import { readSealed } from './keyring/sealed.ts'
import { noKey } from './no-key.ts'
import { note, warn } from './output.ts'
import type { Place } from './places.ts'
import { listSources } from './secrets/sources.ts'
import type { Session } from './session.ts'

// The commands that lead a person from sign-in to `skerry run` say which command comes next.

/**
 * Says the next command for a person who is signed in: make or unlock keys, then join an organization, then choose a
 * project. It is silent if the server cannot be asked, because the command itself has succeeded.
 */
export async function noteNext(client: Client, url: string): Promise<void> {
  try {
    const person = await client.me.get()
    note(await nextForPerson(client, url, person))
    const { user, orgs } = person
    if (user) tellHowToShare(url, user.email ?? user.id, orgs)
  } catch {
    // The next step is advice.
  }
}

async function nextForPerson(client: Client, url: string, { user, orgs }: Person): Promise<string> {
  if (!user || user.publicKeyJwk === null) return 'next: `skerry keys init`, to be able to read secrets'
  if (readSealed(url, user.id) === undefined) return 'next: `skerry keys unlock`, to use your keys on this machine'
  return orgs.length === 0 ? nextToJoin(client) : nextToSetUp
}

type Person = Answer<typeof me.get>

/** The next command for a person in no organization. */
async function nextToJoin(client: Client): Promise<string> {
  const { invites } = await client.ownInvites.list()
  const [first, ...more] = invites
  if (!first) return 'you are in no organization: `skerry org create <name>`, or ask to be invited'
  if (more.length > 0) return 'next: `skerry invite accept <organization>`; see `skerry invite mine`'
  const code = first.joining ? ' --code' : ''
  const how = first.joining ? ', with the joining code that you got' : ''
  return `next: \`skerry invite accept ${first.orgSlug}${code}\`, an invitation that waits for you${how}`
}

export const nextToSetUp = 'next: `skerry setup` in a project folder, or `skerry init` in a new one'

/** Says whether this credential can read an environment, and the next command. Returns whether it can. */
export async function noteAccess(session: Session, place: Place): Promise<boolean> {
  const isPerson = session.principal.type === 'user'
  const keys = isPerson ? (await session.client.me.getKeys()).publicKeyJwk : undefined
  if (keys === null) {
    note('next: `skerry keys init`, because you have no keys yet; then run `skerry setup` again')
    return false
  }
  const missing = await missingKey(session, place)
  if (missing !== undefined) {
    warn(`you cannot read it: ${missing}`)
    return false
  }
  const isNewHere = isPerson && readSealed(session.settings.url, ownerOf(session).userId) === undefined
  note('you can read it')
  note(isNewHere ? 'next: `skerry keys unlock`, then `skerry run -- <program>`' : 'next: `skerry run -- <program>`')
  return true
}

/** Returns the reason and the command that helps, if this credential lacks the key of the environment or of one of its groups. */
async function missingKey(session: Session, place: Place): Promise<string | undefined> {
  try {
    await listSources(session, place)
  } catch (error) {
    if (toFailure(error).kind !== 'refused' || (error as { code?: unknown }).code !== 'forbidden') throw error
    return describe(await noKey(session, place.label))
  }
}
