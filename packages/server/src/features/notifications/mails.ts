import { type NotificationType, notificationTypes } from '@skerry/contract/notification-types'

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
  /** Whether it goes before what else waits. */
  urgent?: true
  /** How several that come within a minute are told of in one mail, where they may wait that long. */
  many?: {
    subject: (count: number, place: Place) => string
    /** Of each, one line. */
    line: (facts: Facts[T]) => string
  }
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
    many: {
      subject: (count, { orgName }) => `${count} changes wait for your review in ${orgName}`,
      line: ({ environment, secretName }) => `${secretName} in the protected environment “${environment}”`,
    },
  },
  change_request_decided: {
    subject: ({ status }, { orgName }) => `Your change in ${orgName} is ${status}`,
    text: ({ environment, secretName, status }, { baseUrl }) => [
      `Your change of ${secretName} in the environment “${environment}” is ${status}.`,
      '',
      `Look at it at ${baseUrl}.`,
    ],
    many: {
      subject: (count, { orgName }) => `${count} of your changes in ${orgName} have been decided`,
      line: ({ environment, secretName, status }) => `${secretName} in the environment “${environment}”: ${status}`,
    },
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
    urgent: true,
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
    subject: (_, { orgName }) => `A sync failed in ${orgName}`,
    text: ({ connection }, { baseUrl }) => [`The sync to “${connection}” failed.`, '', `The reason is at ${baseUrl}.`],
    many: {
      subject: (count, { orgName }) => `${count} syncs failed in ${orgName}`,
      line: ({ connection }) => `“${connection}”`,
    },
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

export const isGathered = (type: NotificationType): boolean => mails[type].many !== undefined

export const isUrgent = (type: NotificationType): boolean => mails[type].urgent ?? false

interface Letter {
  subject: string
  text: string
  signsIn: boolean
}

/** One mail about one event, or about several of a type that has `many`. */
export function letterOf<T extends NotificationType>(type: T, events: Facts[T][], place: Place): Letter {
  const row = mails[type] as Row<T>
  const at = { ...place, orgName: oneLine(place.orgName) }
  const { subject, text } = events.length > 1 ? aboutMany(row, events, at) : aboutOne(row, events, at)
  const end = ['', `You get this mail when ${notificationTypes[type].when}.`]
  return { subject, text: [...text, ...end].join('\n'), signsIn: row.signsIn ?? false }
}

function aboutOne<T extends NotificationType>(row: Row<T>, [event]: Facts[T][], place: Place) {
  if (event === undefined) throw new Error('a mail is about something')
  const facts = inLines(event)
  return { subject: row.subject(facts, place), text: row.text(facts, place) }
}

/** A mail about thousands says how many there are, and lists the first. */
const listedMax = 50

function aboutMany<T extends NotificationType>({ many }: Row<T>, events: Facts[T][], place: Place) {
  if (!many) throw new Error('each is told of in a mail of its own')
  const subject = many.subject(events.length, place)
  const lines = events.slice(0, listedMax).map((event) => `- ${many.line(inLines(event))}`)
  const more = events.length > listedMax ? [`- and ${events.length - listedMax} more`] : []
  return { subject, text: [`${subject}:`, '', ...lines, ...more, '', `Look at them at ${place.baseUrl}.`] }
}

/** Facts may come from strangers: what would begin a line of its own, or hide what follows, is taken out. */
const inLines = <F extends object>(facts: F): F =>
  Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [key, typeof value === 'string' ? oneLine(value) : value]),
  ) as F

const factCharacters = 300
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

const oneLine = (text: string) => text.replace(unprintable, ' ').slice(0, factCharacters).toWellFormed()
