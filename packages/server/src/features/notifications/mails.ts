import { type NotificationType, notificationTypes } from '@skerry/contract/notifications/types'
import type { NoticeFacts } from '../../events/notices.ts'

interface Place {
  baseUrl: string
  /** The organization that the mail is about; empty if there is none. */
  orgName: string
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
    line: (facts: NoticeFacts[T]) => string
  }
}

const day = (instant: string) => instant.slice(0, 10)
const minute = (instant: string) => `${instant.slice(0, 16).replace('T', ' ')} UTC`
const unknown = (text: string | null) => text ?? 'unknown'

/** `API_KEY`, or `API_KEY and 3 other secrets`. */
const changed = ({ secretName, others }: Pick<NoticeFacts['change_request_opened'], 'secretName' | 'others'>) =>
  others > 0 ? `${secretName} and ${others} other ${others === 1 ? 'secret' : 'secrets'}` : secretName

/** Breaks up text that mail programs would turn into a link or an address. */
const unlinked = (text: string) =>
  text
    .replace(/(?<=\S)[.:/@。．｡](?=\S)/g, ' ')
    .slice(0, shownNameCharacters)
    .toWellFormed()
const shownNameCharacters = 80

/** The mail of every notification type. */
const mails: { [T in NotificationType]: Row<T> } = {
  invitation: {
    // Anyone may have made the organization and chosen its name.
    subject: () => 'You are invited to an organization on Skerry',
    text: ({ orgName, until }, { baseUrl }) => [
      `You are invited to join an organization on Skerry that calls itself “${unlinked(orgName)}”.`,
      '',
      `To join, sign in with this address at ${baseUrl} until ${day(until)}, and accept it among your invitations.`,
      '',
      'If you did not expect this, do nothing: nobody joins by signing in alone.',
    ],
    invitation: ({ inviteId }) => inviteId,
  },
  change_request_opened: {
    subject: (_, { orgName }) => `A change waits for your review in ${orgName}`,
    text: ({ environment, ...change }, { baseUrl }) => [
      `A change of ${changed(change)} in the protected environment “${environment}” waits for your review.`,
      '',
      `Look at it at ${baseUrl}.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} changes wait for your review in ${orgName}`,
      line: ({ environment, ...change }) => `${changed(change)} in the protected environment “${environment}”`,
    },
  },
  change_request_decided: {
    subject: ({ status }, { orgName }) => `Your change in ${orgName} is ${status}`,
    text: ({ environment, status, ...change }, { baseUrl }) => [
      `Your change of ${changed(change)} in the environment “${environment}” is ${status}.`,
      '',
      `Look at it at ${baseUrl}.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} of your changes in ${orgName} have been decided`,
      line: ({ environment, status, ...change }) => `${changed(change)} in the environment “${environment}”: ${status}`,
    },
  },
  protection_disabled: {
    subject: (_, { orgName }) => `An environment in ${orgName} is protected no longer`,
    text: ({ environment, by, at, ipAddress, userAgent }, { baseUrl }) => [
      `The protection of the environment “${environment}” was taken off. From now on its secrets change, and its key can be`,
      'replaced, without anybody’s approval.',
      '',
      `By: ${by}`,
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, by its own account: ${unknown(userAgent)}`,
      '',
      `If that was not agreed upon, protect it again at ${baseUrl}, and look at the audit trail.`,
    ],
    urgent: true,
  },
  honey_token_tripped: {
    subject: (_, { orgName }) => `A honey token of ${orgName} was presented`,
    text: ({ tokenId, at, ipAddress, userAgent }, { baseUrl }) => [
      `Someone presented the honey token ${tokenId}. It opens nothing, and nobody has a reason to use it: somebody has`,
      'found the place where it lay.',
      '',
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, by its own account: ${unknown(userAgent)}`,
      '',
      `The audit trail at ${baseUrl} has more.`,
    ],
    urgent: true,
  },
  token_exposed: {
    subject: (_, { orgName }) => `A service token of ${orgName} must be replaced`,
    text: ({ tokenId, name, at, ipAddress, userAgent }, { baseUrl }) => [
      `A program sent the service token “${name}” (${tokenId}) as it stands, with the seed of its key. Skerry refused it, but`,
      'people who could read the request, on the way or in a log, can open all that this token holds a key of.',
      '',
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, by its own account: ${unknown(userAgent)}`,
      '',
      'Revoke the token, re-key what it could open, and give that program one that was made with `--format classic`, if it',
      `knows no other, at ${baseUrl}.`,
    ],
    urgent: true,
  },
  keys_replaced: {
    subject: (_, { orgName }) => `A member of ${orgName} has a new keypair`,
    text: ({ person, environments }, { baseUrl }) => [
      `${person} replaced their keypair, and can read none of the ${environments} environments that they could read before.`,
      '',
      'Before you grant them access again, compare the words of the new key with them, by phone or in person: someone',
      'who has only taken over the account would ask for the same.',
      '',
      `Members are at ${baseUrl}.`,
    ],
  },
  rotation_failed: {
    subject: (_, { orgName }) => `A rotation failed in ${orgName}`,
    text: ({ environment, secretName }, { baseUrl }) => [
      `The rotation of ${secretName} in the environment “${environment}” failed. The value is what it was.`,
      '',
      `The reason is at ${baseUrl}.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} rotations failed in ${orgName}`,
      line: ({ environment, secretName }) => `${secretName} in the environment “${environment}”`,
    },
  },
  sync_failed: {
    subject: ({ cause }, { orgName }) =>
      cause === 'credential' ? `A sync credential was refused in ${orgName}` : `A sync needs you in ${orgName}`,
    text: ({ connection, cause }, { baseUrl }) =>
      cause === 'credential'
        ? [
            `The destination refused the credential of the sync connection “${connection}”. Nothing is pushed through it.`,
            '',
            `Replace the credential at ${baseUrl}, or with \`skerry sync replace\`.`,
          ]
        : [
            `The sync connection “${connection}” does not push every secret, and a person has to put this right.`,
            '',
            `The reason is at ${baseUrl}, or in \`skerry sync runs\`.`,
          ],
    many: {
      subject: (count, { orgName }) => `${count} syncs failed in ${orgName}`,
      line: ({ connection, cause }) =>
        cause === 'credential' ? `“${connection}”: its credential was refused` : `“${connection}”`,
    },
  },
  lease_orphaned: {
    subject: (_, { orgName }) => `The account of a lease could not be removed in ${orgName}`,
    text: ({ leaseId, target, account }, { baseUrl }) => [
      `For a day the account “${unknown(account)}” of lease ${leaseId} could not be removed from the target “${target}”.`,
      'It may still work: look on the target, and remove it there.',
      '',
      `Then revoke the lease once more, or forget it. The reason is at ${baseUrl}.`,
    ],
    many: {
      subject: (count, { orgName }) => `The accounts of ${count} leases could not be removed in ${orgName}`,
      line: ({ leaseId, target, account }) => `“${unknown(account)}” on the target “${target}”, of lease ${leaseId}`,
    },
  },
  lease_target_paused: {
    subject: (_, { orgName }) => `A lease target is paused in ${orgName}`,
    text: ({ target, reason }, { baseUrl }) => [
      `The lease target “${target}” crashed its driver three times in a row.`,
      `The last failure: ${reason}.`,
      'Skerry makes no leases and no rotations there, and does not remove expired accounts until you verify the target.',
      '',
      `Look at the server behind it, then verify the target at ${baseUrl}, or with \`skerry lease target verify\`.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} lease targets are paused in ${orgName}`,
      line: ({ target, reason }) => `“${target}”: ${reason}`,
    },
  },
  log_sink_disabled: {
    subject: (_, { orgName }) => `The audit trail of ${orgName} is sent to its collector no longer`,
    text: ({ endpoint, error }, { baseUrl }) => [
      `The collector at ${endpoint} refused what it was sent: ${error}.`,
      'Nothing is lost: entries wait in the trail, and are sent once the log sink is enabled again.',
      '',
      `Correct the settings at ${baseUrl}, or with \`skerry log-sink set\`.`,
    ],
  },
  vault_webhook_disabled: {
    subject: (_, { orgName }) => `A webhook of the vault in ${orgName} was disabled`,
    text: ({ host, error }, { baseUrl }) => [
      `The webhook at ${host} failed many times in a row, the last time with: ${error}.`,
      'It is sent nothing until an admin enables it again. What waits is sent then; new events are not kept for it.',
      '',
      `Correct the receiver, then enable the webhook at ${baseUrl}, or with \`skerry vault webhooks enable\`.`,
    ],
  },
  cli_session_approved: {
    subject: () => 'A CLI session was approved in your name',
    text: ({ deviceLabel, client, ipAddress, at, expiresAt }, { baseUrl }) => [
      'A CLI session was approved in your name. It may do what you may, until you revoke it.',
      '',
      `Device, by its own account: “${deviceLabel}”`,
      `Program, by its own account: ${unknown(client)}`,
      `Asked for from: ${unknown(ipAddress)}`,
      `Approved: ${minute(at)}`,
      `Ends: ${day(expiresAt)}`,
      '',
      `If that was not you, revoke it at ${baseUrl}.`,
    ],
  },
  recovery_opened: {
    subject: ({ drill }, { orgName }) => `A recovery ${drill ? 'drill ' : ''}was opened in ${orgName}`,
    text: ({ requestId, drill, targetId, reason }, { baseUrl }) => [
      drill
        ? 'A recovery drill was opened. Custodians show with it that enough shares can be met; it gives nobody anything.'
        : `A recovery was opened for ${unknown(targetId)}, who can open what is covered when enough custodians give shares.`,
      '',
      `Reason given: ${reason ?? 'none'}`,
      '',
      'If you hold a share: compare the words of the key with the person who asks, other than by mail, before you run',
      `skerry recovery contribute ${requestId}`,
      '',
      `If nobody should have asked, an admin stops it with skerry recovery cancel ${requestId}. The server is ${baseUrl}.`,
    ],
  },
  recovery_completed: {
    subject: (_, { orgName }) => `A recovery was completed in ${orgName}`,
    text: ({ requestId, targetId, environments }, { baseUrl }) => [
      `${targetId} was given the keys of ${environments === 1 ? 'one environment' : `${environments} environments`}.`,
      '',
      `The audit trail at ${baseUrl} has more, under ${requestId}.`,
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
  const lines = events.slice(0, listedMax).map((event) => `- ${many.line(inLines(event))}`)
  const more = events.length > listedMax ? [`- and ${events.length - listedMax} more`] : []
  return { subject, text: [`${subject}:`, '', ...lines, ...more, '', `Look at them at ${place.baseUrl}.`] }
}

/** Facts may come from strangers. Characters that would start a new line, or hide the text after them, are removed. */
const inLines = <F extends object>(facts: F): F =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? oneLine(value) : value]),
  ) as F

const factCharacters = 300
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const oneLine = (text: string) => text.replace(unprintable, ' ').slice(0, factCharacters).toWellFormed()
