import { isReplaced, readCredentials } from '../credentials.ts'
import { findKit } from '../keyring/kit.ts'
import { placeOptions, profileOption, shellWord } from '../labels.ts'
import { note, warn } from '../output.ts'
import { readersAtFirst, type withRecovery } from '../recovery/key.ts'
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
  const first = isReady ? '' : 'once they have run `skerry keys init`, or made a keyring in the dashboard, '
  note(
    `${email} cannot read these environments yet: ${first}share the keys with \`skerry grant ${shellWord(email)} --all\``,
  )
}

type Recovery = Awaited<ReturnType<typeof withRecovery>>

/** Says who can read the environments that a person has just created. */
export function tellReaders(session: Session, labels: readonly string[], recovery: Recovery): void {
  if (session.principal.type !== 'user' || labels.length === 0) return
  note(readersAtFirst(recovery, { who: 'you', what: labels.join(', ') }))
}

/**
 * Says what a person loses with the passphrase if nobody else can read new environments, and which commands prevent it.
 * Recovery custodians can restore what they cover, so it says nothing then.
 */
export async function warnOfLoss(
  session: Session,
  labels: readonly string[],
  { recoveryPublicKeyJwk }: Recovery,
): Promise<void> {
  const [first] = labels
  if (first === undefined || session.principal.type !== 'user' || recoveryPublicKeyJwk !== undefined) return
  const { client, settings } = session
  const where = labels.length === 1 ? placeOptions(first) : '--all'
  const grant = `\`skerry grant <member or token> ${where}${profileOption(settings.profile)}\``
  if (await findKit(client).catch(() => null)) {
    note(`your recovery kit opens your keys if you lose the passphrase; a second reader protects you too: ${grant}`)
    return
  }
  warn('if you lose your passphrase, the secrets that only you can read are lost for good, because nobody can reset it')
  note(`make a recovery kit with \`skerry keys kit\`, or let a second person or a token read: ${grant}`)
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
function profileWithKeys(url: string, orgs: readonly Org[]): string | undefined {
  const found = Object.entries(readCredentials().profiles).find(
    ([name, { url: server, token, org }]) =>
      server === url && token !== undefined && !isReplaced(name) && orgs.some(({ slug }) => slug === org?.slug),
  )
  return found?.[0]
}
