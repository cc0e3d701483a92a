import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import type { NoticeFacts } from '../../events/notices.ts'
import { unlinked } from '../../model/people/names.ts'
import { secretsPath } from './secrets-path.ts'

export interface Place {
  baseUrl: string
  /** The organization that the mail is about; empty if there is none. */
  orgName: string
  /** Its slug, as links contain it; null if there is none, and for a notice of an earlier release. */
  orgSlug: string | null
}

interface Row<T extends NotificationType> {
  subject: (facts: NoticeFacts[T], place: Place) => string
  /** Lines of text. */
  text: (facts: NoticeFacts[T], place: Place) => string[]
  /**
   * The invitation that the mail is about. A link that accepts it is added, because the recipient may not be a user
   * yet.
   */
  invitation?: (facts: NoticeFacts[T]) => string
  /** Whether the mail goes before other waiting mails. */
  urgent?: true
  /** How one mail reports several events of a minute, for types that may wait that long. */
  many?: {
    subject: (count: number, place: Place) => string
    /** One line for each event. */
    line: (facts: NoticeFacts[T], place: Place) => string
    /** The page of the organization that lists all of them. Unless given, the mail links to the dashboard. */
    page?: string
  }
}

const day = (instant: string) => instant.slice(0, 10)
const minute = (instant: string) => `${instant.slice(0, 16).replace('T', ' ')} UTC`
const unknown = (text: string | null) => text ?? 'unknown'

/** Names a person or a program at the beginning of a sentence: `the service token ci` begins with a capital letter. */
const atStart = (name: string | null) => (name ?? 'Somebody').replace(/^the /, 'The ')

/** `API_KEY`, or `API_KEY and 3 other secrets`. A re-key changes `the key`. */
function changed({ secretName, others }: Pick<NoticeFacts['change_request_opened'], 'secretName' | 'others'>): string {
  if (secretName === null) return 'the key'
  return others > 0 ? `${secretName} and ${others} other ${others === 1 ? 'secret' : 'secrets'}` : secretName
}

/** A line with words that the sender of a change wrote: one line, and no links in it. Without words there is no line. */
const quoted = (title: string, text: string | null) => (text ? [`${title}: “${unlinked(text, factCharacters)}”`] : [])

const namedMax = 10

/** `web/staging, web/preview and 3 other environments`. */
function nameAll(labels: string[]): string {
  const others = labels.length - namedMax
  if (others <= 0) return labels.join(', ')
  return `${labels.slice(0, namedMax).join(', ')} and ${others} other ${others === 1 ? 'environment' : 'environments'}`
}

/** The address of a page of the organization in the dashboard. */
const pageIn = ({ baseUrl, orgSlug }: Place, path: string) =>
  orgSlug === null ? baseUrl : `${baseUrl}/orgs/${orgSlug}/${path}`

const changePage = ({ changeRequestId }: { changeRequestId: string }, place: Place) =>
  pageIn(place, `changes/${changeRequestId}`)

/** Leads to the secrets of each application and group whose environments were granted. */
function secretsLines(environments: string[], place: Place): string[] {
  const pages = [...new Set(environments.map((label) => pageIn(place, secretsPath(label))))]
  return pages.length === 1 ? [`See the secrets at ${pages[0]}`] : ['See the secrets at', ...pages.slice(0, namedMax)]
}

const approvalsNeeded = (count: number | null) => {
  if (count === null) return []
  return [count === 1 ? 'It needs 1 approval.' : `It needs ${count} approvals.`]
}

/** How a decision ended, and what the proposer can do then. */
const decisionWords: Readonly<Record<string, string>> = {
  superseded:
    'The secrets, the key or its readers changed after you proposed it, so it can no longer be applied. Propose it again if you still need it.',
}
const deciderTitles: Readonly<Record<string, string>> = { applied: 'Approved by', rejected: 'Rejected by' }

/** Only the command checks a joining code. It proves the right organization to a person who does not trust the server. */
const codeWords = (baseUrl: string) => [
  'The person who invited you gives you a joining code, by phone for example. The safe way to join is with this code:',
  '',
  `  skerry login --url ${baseUrl}`,
  '  skerry keys init',
  '  skerry invite accept --code',
  '',
]

/** The mail of every notification type. */
const mails: { [T in NotificationType]: Row<T> } = {
  invitation: {
    // Anyone may have made the organization and chosen its name.
    subject: () => 'You are invited to an organization on Skerry',
    text: ({ orgName, until, invitedBy, hasCode }, { baseUrl }) => [
      `${atStart(invitedBy)} invited you to the organization “${unlinked(orgName)}” on Skerry.`,
      '',
      `To join, sign in with this address at ${baseUrl}, and accept the invitation. It expires on ${day(until)}.`,
      '',
      ...(hasCode ? codeWords(baseUrl) : []),
      'If you did not expect this invitation, ignore this mail. Signing in alone does not make you a member.',
    ],
    invitation: ({ inviteId }) => inviteId,
  },
  access_requested: {
    subject: (_, { orgName }) => `A member asks for access in ${orgName}`,
    text: ({ requestId, person, environments, reason }, place) => [
      `${person} asks for access to ${nameAll(environments)}.`,
      ...quoted('Reason', reason),
      '',
      `Answer at ${pageIn(place, 'requests')}, or with \`skerry access grant ${requestId}\`.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} requests for access wait in ${orgName}`,
      line: ({ person, environments }) => `${person}: ${nameAll(environments)}`,
      page: 'requests',
    },
  },
  access_decided: {
    subject: ({ status }, { orgName }) => `Access that you asked for in ${orgName} was ${status}`,
    text: ({ status, environments, closedBy, answer }, place) => [
      status === 'granted'
        ? `${atStart(closedBy)} gave you access to ${nameAll(environments)}.`
        : `${atStart(closedBy)} declined your request for access to ${nameAll(environments)}.`,
      ...quoted('Reason', answer),
      '',
      ...(status === 'granted'
        ? secretsLines(environments, place)
        : [`See your requests at ${pageIn(place, 'requests?answered=true')}`]),
    ],
  },
  offboarding_row_handed: {
    subject: ({ reminder }, { orgName }) =>
      reminder ? `An offboarding in ${orgName} waits for you` : `A task of an offboarding in ${orgName} is yours now`,
    text: ({ offboardingId, person, task, by, note, reminder }, place) => [
      `${by} ${reminder ? 'reminds you of' : 'handed you'} a task of the offboarding of ${person}: ${task}.`,
      ...quoted('Note', note),
      '',
      `Do it at ${pageIn(place, `offboardings/${offboardingId}`)}`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} tasks of offboardings in ${orgName} wait for you`,
      line: ({ offboardingId, person, task, by }, place) =>
        `${task}, in the offboarding of ${person}, from ${by}: ${pageIn(place, `offboardings/${offboardingId}`)}`,
    },
  },
  change_request_opened: {
    subject: (_, { orgName }) => `A change waits for your review in ${orgName}`,
    text: ({ environment, proposedBy, note, requiredApprovals, ...change }, place) => [
      `${atStart(proposedBy)} proposed a change of ${changed(change)} in the protected environment “${environment}”.`,
      ...approvalsNeeded(requiredApprovals),
      ...quoted('Note of the proposer', note),
      '',
      `Review the change at ${changePage(change, place)}`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} changes wait for your review in ${orgName}`,
      line: ({ environment, proposedBy, ...change }, place) =>
        `${changed(change)} in the protected environment “${environment}”${proposedBy === null ? '' : `, by ${proposedBy}`}: ${changePage(change, place)}`,
      page: 'changes',
    },
  },
  change_request_decided: {
    subject: ({ status }, { orgName }) => `Your change in ${orgName} is ${status}`,
    text: ({ environment, status, decidedBy, comment, ...change }, place) => [
      `Your change of ${changed(change)} in the environment “${environment}” is ${status}.`,
      ...[decisionWords[status] ?? []].flat(),
      ...(decidedBy === null || deciderTitles[status] === undefined ? [] : [`${deciderTitles[status]}: ${decidedBy}`]),
      ...quoted('Comment', comment),
      '',
      `See the change at ${changePage(change, place)}`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} of your changes in ${orgName} have been decided`,
      line: ({ environment, status, ...change }, place) =>
        `${changed(change)} in the environment “${environment}”: ${status}, ${changePage(change, place)}`,
      page: 'changes?status=all',
    },
  },
  protection_disabled: {
    subject: (_, { orgName }) => `An environment in ${orgName} is no longer protected`,
    text: ({ environment, environmentId, by, at, ipAddress, userAgent }, place) => [
      `The environment “${environment}” is no longer protected. Its secrets and its key can now be changed without approval.`,
      '',
      `By: ${by}`,
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, as it named itself: ${unknown(userAgent)}`,
      '',
      `If nobody on your team meant that, protect the environment again at ${pageIn(place, `envs/${environmentId}/protection`)}, and read the audit log.`,
    ],
    urgent: true,
  },
  honey_token_tripped: {
    subject: (_, { orgName }) => `Somebody used a decoy token of ${orgName}`,
    text: ({ tokenId, placement, at, ipAddress, userAgent }, place) => [
      `Somebody used the decoy token ${tokenId}. It opens nothing, and nobody has a reason to use it. The person or program that`,
      'used it has read the place where you put it, and may have read other secrets there.',
      '',
      ...(placement === null ? [] : [`Placed at: ${placement}`]),
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, as it named itself: ${unknown(userAgent)}`,
      '',
      `The audit log has the details: ${pageIn(place, 'audit')}`,
    ],
    urgent: true,
  },
  token_exposed: {
    subject: (_, { orgName }) => `A service token of ${orgName} must be replaced`,
    text: ({ tokenId, name, at, ipAddress, userAgent }, place) => [
      `A program sent the whole service token “${name}” (${tokenId}), with the seed of its private key. Skerry refused it, but`,
      'anybody who could read the request, on the network or in a log, can read every secret that this token can read.',
      '',
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, as it named itself: ${unknown(userAgent)}`,
      '',
      `Revoke the token, and re-key its environments, at ${pageIn(place, 'tokens')}. If the program cannot use such tokens, give it one that`,
      'was created with `--format classic`.',
    ],
    urgent: true,
  },
  keys_replaced: {
    subject: (_, { orgName }) => `A member of ${orgName} has a new key pair`,
    text: ({ person, environments }, place) => [
      `${person} replaced their key pair, and can read none of the ${environments} environments that they could read before.`,
      '',
      'Before you grant them access again, compare the words of the new key with them, by phone or in person. An attacker who',
      'took over the account would ask for access, too.',
      '',
      `Grant access at ${pageIn(place, 'members')}`,
    ],
  },
  rotation_failed: {
    subject: (_, { orgName }) => `A rotation failed in ${orgName}`,
    text: ({ environment, secretName }, place) => [
      `The rotation of ${secretName} in the environment “${environment}” failed. The value did not change.`,
      '',
      `See the reason at ${pageIn(place, 'rotation')}`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} rotations failed in ${orgName}`,
      line: ({ environment, secretName }) => `${secretName} in the environment “${environment}”`,
      page: 'rotation',
    },
  },
  secret_expiring: {
    subject: ({ hasExpired }, { orgName }) => `A secret ${hasExpired ? 'has expired' : 'will expire'} in ${orgName}`,
    text: ({ environment, secretName, expiresAt, hasExpired }, place) => [
      `${secretName} in the environment “${environment}” ${hasExpired ? 'expired' : 'expires'} on ${day(expiresAt)}.`,
      'Skerry does not change it. Replace it at its source, store the new value, and set the next date.',
      '',
      `See it at ${pageIn(place, secretsPath(environment, secretName))}`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} secrets expire in ${orgName}`,
      line: ({ environment, secretName, expiresAt }, place) =>
        `${secretName} in the environment “${environment}”, on ${day(expiresAt)}: ${pageIn(place, secretsPath(environment, secretName))}`,
      page: 'apps',
    },
  },
  sync_failed: {
    subject: ({ cause }, { orgName }) =>
      cause === 'credential' ? `A sync credential was refused in ${orgName}` : `A sync needs you in ${orgName}`,
    text: ({ connection, cause }, place) =>
      cause === 'credential'
        ? [
            `The destination refused the credential of the sync connection “${connection}”. Skerry pushes nothing until you replace it.`,
            '',
            `Replace it at ${pageIn(place, 'sync/connections')}, or with \`skerry sync replace\`.`,
          ]
        : [
            `The sync connection “${connection}” cannot push every secret, and needs your decision.`,
            '',
            `See the reason at ${pageIn(place, 'sync/runs')}, or with \`skerry sync runs\`.`,
          ],
    many: {
      subject: (count, { orgName }) => `${count} syncs failed in ${orgName}`,
      line: ({ connection, cause }) =>
        cause === 'credential' ? `“${connection}”: its credential was refused` : `“${connection}”`,
      page: 'sync/runs',
    },
  },
  lease_orphaned: {
    subject: (_, { orgName }) => `The account of a lease could not be removed in ${orgName}`,
    text: ({ leaseId, target, account }, place) => [
      `For a day Skerry could not remove the account “${unknown(account)}” of lease ${leaseId} from the target “${target}”.`,
      'The account may still work. Remove it on the target.',
      '',
      `Then revoke the lease again, or forget it. See the reason at ${pageIn(place, 'leases')}`,
    ],
    many: {
      subject: (count, { orgName }) => `The accounts of ${count} leases could not be removed in ${orgName}`,
      line: ({ leaseId, target, account }) => `“${unknown(account)}” on the target “${target}”, of lease ${leaseId}`,
      page: 'leases',
    },
  },
  lease_target_paused: {
    subject: (_, { orgName }) => `A lease target is paused in ${orgName}`,
    text: ({ target, reason }, place) => [
      `The lease target “${target}” crashed its driver three times in a row.`,
      `The last failure: ${reason}.`,
      'Skerry makes no leases and no rotations there, and does not remove expired accounts until you verify the target.',
      '',
      `Look at the server behind it, then verify the target at ${pageIn(place, 'leases/targets')}, or with \`skerry lease target verify\`.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} lease targets are paused in ${orgName}`,
      line: ({ target, reason }) => `“${target}”: ${reason}`,
      page: 'leases/targets',
    },
  },
  log_sink_disabled: {
    subject: (_, { orgName }) => `The audit log of ${orgName} is no longer sent to its collector`,
    text: ({ endpoint, error }, place) => [
      `The collector at ${endpoint} refused entries: ${error}.`,
      'No entry is lost. Skerry sends them after the log sink is enabled again.',
      '',
      `Correct the settings at ${pageIn(place, 'log-sink')}, or with \`skerry log-sink set\`.`,
    ],
  },
  vault_webhook_disabled: {
    subject: (_, { orgName }) => `A webhook of the vault in ${orgName} was disabled`,
    text: ({ host, error }, place) => [
      `The webhook at ${host} failed many times in a row, the last time with: ${error}.`,
      'Skerry sends it nothing until an admin enables it again. It then gets the events that already waited, but no newer ones.',
      '',
      `Correct the receiver, then enable the webhook at ${pageIn(place, 'vault')}, or with \`skerry vault webhook enable\`.`,
    ],
  },
  cli_session_approved: {
    subject: () => 'A CLI session was approved in your name',
    text: ({ deviceLabel, client, ipAddress, at, expiresAt }, { baseUrl }) => [
      'A CLI session was approved in your name. It may do everything that you may do, until you revoke it or it expires.',
      '',
      `Device, as it named itself: “${deviceLabel}”`,
      `Program, as it named itself: ${unknown(client)}`,
      `Requested from: ${unknown(ipAddress)}`,
      `Approved: ${minute(at)}`,
      `Expires: ${day(expiresAt)}`,
      '',
      `If that was not you, revoke it at ${baseUrl}/account/cli-sessions`,
    ],
  },
  recovery_opened: {
    subject: ({ drill }, { orgName }) => `A recovery ${drill ? 'drill ' : ''}was opened in ${orgName}`,
    text: ({ requestId, drill, target, reason }, { baseUrl }) => [
      drill
        ? 'A recovery drill was opened. It shows that enough custodians still have their shares. It grants no keys.'
        : `A recovery was opened for ${unknown(target)}. If enough custodians contribute, that person can read all covered environments.`,
      '',
      `Reason given: ${reason ?? 'none'}`,
      '',
      'If you have a share, first compare the words of the key with that person, in person or by phone. Then run',
      `skerry recovery contribute ${requestId}`,
      '',
      `If nobody should have opened this recovery, an admin can stop it: skerry recovery cancel ${requestId}. The server is ${baseUrl}.`,
    ],
  },
  recovery_completed: {
    subject: (_, { orgName }) => `A recovery was completed in ${orgName}`,
    text: ({ requestId, target, environments }, place) => [
      `${target} got the keys of ${environments === 1 ? 'one environment' : `${environments} environments`}.`,
      '',
      `The audit log has the details, under ${requestId}: ${pageIn(place, 'audit')}`,
    ],
  },
}

export const isGathered = (type: NotificationType): boolean => mails[type].many !== undefined

export const isUrgent = (type: NotificationType): boolean => mails[type].urgent ?? false

interface Letter {
  subject: string
  text: string
  inviteId: string | null
}

/** Builds one mail about one event, or about several of a type that has `many`. */
export function letterOf<T extends NotificationType>(type: T, events: NoticeFacts[T][], place: Place): Letter {
  const row = mails[type] as Row<T>
  const at = { ...place, orgName: oneLine(place.orgName) }
  const { subject, text } = events.length > 1 ? aboutMany(row, events, at) : aboutOne(row, events, at)
  const end = ['', `You get this mail when ${notificationTypes[type].when}.`]
  return { subject, text: [...text, ...end].join('\n'), inviteId: (events[0] && row.invitation?.(events[0])) ?? null }
}

function aboutOne<T extends NotificationType>(row: Row<T>, [event]: NoticeFacts[T][], place: Place) {
  if (event === undefined) throw new Error('a mail is about something')
  const facts = inLines(event)
  return { subject: row.subject(facts, place), text: row.text(facts, place) }
}

/** A mail about many events says how many there are, and lists only the first ones. */
const listedMax = 50

function aboutMany<T extends NotificationType>({ many }: Row<T>, events: NoticeFacts[T][], place: Place) {
  if (!many) throw new Error('each is told of in a mail of its own')
  const subject = many.subject(events.length, place)
  const lines = events.slice(0, listedMax).map((event) => `- ${many.line(inLines(event), place)}`)
  const more = events.length > listedMax ? [`- and ${events.length - listedMax} more`] : []
  return { subject, text: [`${subject}:`, '', ...lines, ...more, '', `See them at ${pageOfAll(many, place)}`] }
}

const pageOfAll = ({ page }: { page?: string }, place: Place): string =>
  page === undefined ? place.baseUrl : pageIn(place, page)

/** Facts may come from strangers. Characters that would start a new line, or hide the text after them, are removed. */
const inLines = <F extends object>(facts: F): F =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? oneLine(value) : value]),
  ) as F

const factCharacters = 300
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const oneLine = (text: string) => text.replace(unprintable, ' ').slice(0, factCharacters).toWellFormed()
