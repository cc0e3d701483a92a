import { isReplaced, readCredentials } from '../credentials.ts'
import { placeOptions, profileOption, shellWord } from '../labels.ts'
import { note } from '../output.ts'
import type { Session } from '../session.ts'

/**
 * Says how the person of an organization that a token set up gets the keys, which the token alone holds. It says nothing
 * in an organization of several people, because there it cannot know who should read.
 */
export async function adviseGrant(session: Session): Promise<void> {
  if (session.principal.type !== 'service_token') return
  const params = { orgId: (await session.org()).id }
  const [{ members }, { invites }] = await Promise.all([
    session.client.orgs.members({ params }),
    session.client.invites.list({ params }),
  ])
  const emails = [...members, ...invites].map(({ email }) => email)
  const [email] = emails
  if (emails.length !== 1 || !email) return
  const isReady = members.some(({ publicKeyJwk }) => publicKeyJwk !== null)
  const when = isReady ? 'share the keys with' : 'once they have made a keyring in the dashboard, share the keys with'
  note(`${email} cannot read these environments yet: ${when} \`skerry grant ${shellWord(email)} --all\``)
}

/** Names the command that gives a new environment to a second reader. Otherwise, a lost passphrase loses the secrets. */
export function adviseSecondReader(session: Session, label: string): void {
  if (session.principal.type === 'user') note(`grant ${secondReaderAdvice(session, label)}`)
}

/** Like `adviseSecondReader`, where no line before says that the person alone can read the environment. */
export function tellOnlyReader(session: Session, label: string): void {
  if (session.principal.type === 'user')
    note(`only you can read ${label} yet. Grant ${secondReaderAdvice(session, label)}`)
}

function secondReaderAdvice({ settings }: Session, label: string): string {
  const command = `skerry grant <member or token> ${placeOptions(label)}${profileOption(settings.profile)}`
  return `it to a second person or a token, so that a lost passphrase loses nothing: \`${command}\``
}

/**
 * Says which credential the next commands use, where this machine also has a token of an organization of the person: the
 * one that was stored last.
 */
export function tellWhichWins(url: string, who: string, orgs: readonly Org[]): void {
  const profile = profileWithKeys(url, orgs)
  if (profile !== undefined) note(`commands now act as ${who}, and no longer as the token in profile ${profile}`)
}

/** Says how a person gets the keys of a token that is stored on this machine. */
export function tellHowToShare(url: string, who: string, orgs: readonly Org[]): void {
  const profile = profileWithKeys(url, orgs)
  if (profile === undefined) return
  note(
    `to share what the token in profile ${profile} can read: \`skerry grant ${shellWord(who)} --all --profile ${shellWord(profile)}\``,
  )
}

interface Org {
  slug: string
}

/** The profile of this machine whose token may hold keys of one of the organizations. */
export function profileWithKeys(url: string, orgs: readonly Org[]): string | undefined {
  const found = Object.entries(readCredentials().profiles).find(
    ([name, { url: server, token, org }]) =>
      server === url && token !== undefined && !isReplaced(name) && orgs.some(({ slug }) => slug === org?.slug),
  )
  return found?.[0]
}
