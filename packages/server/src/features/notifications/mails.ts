import { type NotificationType, notificationTypes } from '@skerry/contract/notifications'

/** What a mail of each type tells: names and instants, never a value, nor what another system said in its own words. */
export interface Facts {
  invitation: { orgName: string; until: string }
  change_request_opened: { environment: string; secretName: string }
  change_request_decided: { environment: string; secretName: string; status: string }
  honey_token_tripped: { tokenId: string; at: string; ipAddress: string | null; userAgent: string | null }
  rotation_failed: { environment: string; secretName: string }
  sync_failed: { connection: string }
  cli_session_approved: {
    deviceLabel: string
    client: string | null
    ipAddress: string | null
    at: string
    expiresAt: string
  }
  recovery_opened: { reason: string | null }
}

interface Place {
  baseUrl: string
  /** The organization that it is about, where it is about one. */
  orgName: string
}

interface Row<T extends NotificationType> {
  subject: (facts: Facts[T], place: Place) => string
  /** Lines of text. */
  text: (facts: Facts[T], place: Place) => string[]
  /** Whether a link goes along that signs its recipient in, who may not be anybody here yet. */
  signsIn?: true
}

const day = (instant: string) => instant.slice(0, 10)
const minute = (instant: string) => `${instant.slice(0, 16).replace('T', ' ')} UTC`
const unknown = (text: string | null) => text ?? 'unknown'

/** The mail of every notification type. */
const mails: { [T in NotificationType]: Row<T> } = {
  invitation: {
    subject: ({ orgName }) => `You are invited to ${orgName} on Skerry`,
    text: ({ orgName, until }, { baseUrl }) => [
      `You are invited to join the organization “${orgName}” on Skerry.`,
      '',
      `Sign in with this address at ${baseUrl} until ${day(until)} and you are a member.`,
      '',
      'If you did not expect this, do nothing: without your sign-in nothing happens.',
    ],
    signsIn: true,
  },
  change_request_opened: {
    subject: (_, { orgName }) => `A change waits for your review in ${orgName}`,
    text: ({ environment, secretName }, { baseUrl }) => [
      `A change of ${secretName} in the protected environment “${environment}” waits for your review.`,
      '',
      `Look at it at ${baseUrl}.`,
    ],
  },
  change_request_decided: {
    subject: ({ status }, { orgName }) => `Your change in ${orgName} is ${status}`,
    text: ({ environment, secretName, status }, { baseUrl }) => [
      `Your change of ${secretName} in the environment “${environment}” is ${status}.`,
      '',
      `Look at it at ${baseUrl}.`,
    ],
  },
  honey_token_tripped: {
    subject: (_, { orgName }) => `A honey token of ${orgName} was presented`,
    text: ({ tokenId, at, ipAddress, userAgent }, { baseUrl }) => [
      `Someone presented the honey token ${tokenId}. It opens nothing, and nobody has a reason to use it: whoever did has`,
      'found the place where it lay.',
      '',
      `When: ${minute(at)}`,
      `From: ${unknown(ipAddress)}`,
      `Program, by its own account: ${unknown(userAgent)}`,
      '',
      `The audit trail at ${baseUrl} has more.`,
    ],
  },
  rotation_failed: {
    subject: (_, { orgName }) => `A rotation failed in ${orgName}`,
    text: ({ environment, secretName }, { baseUrl }) => [
      `The rotation of ${secretName} in the environment “${environment}” failed. The value is what it was.`,
      '',
      `The reason is at ${baseUrl}.`,
    ],
  },
  sync_failed: {
    subject: (_, { orgName }) => `A sync failed in ${orgName}`,
    text: ({ connection }, { baseUrl }) => [`The sync to “${connection}” failed.`, '', `The reason is at ${baseUrl}.`],
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
    subject: (_, { orgName }) => `A recovery was opened in ${orgName}`,
    text: ({ reason }, { baseUrl }) => [
      'A recovery was opened. When enough custodians give their shares, whoever asked can open what is covered.',
      '',
      `Reason given: ${unknown(reason)}`,
      '',
      `Look at it, or cancel it, at ${baseUrl}.`,
    ],
  },
}

export interface Letter {
  subject: string
  text: string
  signsIn: boolean
}

/** Facts may come from strangers: what would begin a line of its own, or hide what follows, is taken out. */
export function letterOf<T extends NotificationType>(type: T, facts: Facts[T], place: Place): Letter {
  const lines = Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? oneLine(value) : value]),
  ) as Facts[T]
  const row = mails[type] as Row<T>
  const at = { ...place, orgName: oneLine(place.orgName) }
  const end = ['', `You get this mail when ${notificationTypes[type].when}.`]
  return {
    subject: row.subject(lines, at),
    text: [...row.text(lines, at), ...end].join('\n'),
    signsIn: row.signsIn ?? false,
  }
}

const factCharacters = 300
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const oneLine = (text: string) => text.replace(unprintable, ' ').slice(0, factCharacters).toWellFormed()
