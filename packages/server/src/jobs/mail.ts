import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { checkNoTransaction } from '../db/transaction-guard.ts'
import { redactForLog, ServiceError } from '../kernel/errors.ts'

export interface Mail {
  to: string
  subject: string
  text: string
}

export interface Mailer {
  /** Returns once the SMTP server has accepted the mail. */
  send(mail: Mail): Promise<void>
  close(): Promise<void>
}

/**
 * The number of SMTP connections. Further mails wait for a free one. Providers that limit connections allow about ten.
 */
const connectionsMax = 5
/** One connection is reserved for mails that a person waits for, such as a link to sign in. */
export const ordinaryMailsAtOnce = connectionsMax - 1

/**
 * Sends mails by SMTP. Without an SMTP server it writes files into the outbox folder of the data directory, for a
 * person to read.
 */
export function openMailer(config: Config): Mailer {
  const { smtpUrl, smtpCleartext, mailFrom, dataDir } = config
  const mailer =
    smtpUrl === null
      ? outbox(join(dataDir, 'outbox'), mailFrom)
      : smtp(smtpCleartext ? smtpUrl : withRequiredTls(smtpUrl), mailFrom)
  return {
    ...mailer,
    async send(mail) {
      checkNoTransaction()
      await mailer.send(mail)
    },
  }
}

/**
 * The URL with STARTTLS required. The parameter is set in the URL, because nodemailer prefers the parameters there to its
 * options: `?requireTLS=false` would otherwise win.
 */
function withRequiredTls(smtpUrl: string): string {
  const url = new URL(smtpUrl)
  url.searchParams.set('requireTLS', 'true')
  // The parameter `secured` would tell nodemailer that the connection has TLS already, so it is removed.
  url.searchParams.delete('secured')
  return url.href
}

function smtp(url: string, from: string): Mailer {
  const open = async () => {
    const { createTransport } = await import('nodemailer')
    return createTransport({ url, pool: true, maxConnections: connectionsMax }, { from })
  }
  // Opened for the first mail: most servers send few, and none while they start.
  let transport: ReturnType<typeof open> | undefined
  return {
    async send(mail) {
      transport ??= open()
      // nodemailer uses an address in an object unchanged. It would parse a string, which could contain several
      // addresses.
      const envelope = { ...mail, to: { name: '', address: mail.to } }
      await (await transport).sendMail(envelope).catch((error) => {
        throw smtpError(error, url)
      })
    },
    close: async () => (await transport)?.close(),
  }
}

/** Says why a mail was not sent, with the code and the text of the SMTP server. */
function smtpError(error: Error & { code?: string; response?: string }, url: string): ServiceError {
  const { username, password } = new URL(url)
  const secrets = [username, password].flatMap((part) => [part, decodePercent(part)])
  const text = redactForLog(error.response ?? error.message, secrets)
  return new ServiceError(`${smtpFailures[error.code ?? ''] ?? 'the SMTP server refused'}: ${text}`, {
    code: error.code,
    cause: error,
  })
}

/** Decodes percent-encoding. A `%` that encodes nothing is left unchanged. */
const decodePercent = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (encoded) => Buffer.from(encoded.replaceAll('%', ''), 'hex').toString())

/** The reasons by error code of nodemailer. */
const smtpFailures: Readonly<Record<string, string>> = {
  EAUTH: 'the SMTP server refused the user or the password in SKERRY_SMTP_URL',
  ECONNECTION: 'the SMTP server cannot be reached',
  EDNS: 'the SMTP server cannot be reached',
  ESOCKET: 'the connection to the SMTP server failed',
  ETIMEDOUT: 'the SMTP server did not answer in time',
  ETLS: 'the SMTP server did not start TLS (to send without TLS, set SKERRY_SMTP_CLEARTEXT=allow)',
}

function outbox(folder: string, from: string): Mailer {
  return {
    async send(mail) {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const name = `${new Date().toISOString().replaceAll(':', '-')}-${crypto.randomUUID().slice(0, 8)}.eml`
      await using file = await open(join(folder, name), 'wx', 0o600)
      await file.writeFile(readable(mail, from))
    },
    close: async () => {},
  }
}

/**
 * Formats a message that is readable in a terminal and in a mail program: without encoding, so that no link is broken
 * in two.
 */
function readable({ to, subject, text }: Mail, from: string): string {
  const headers = {
    From: from,
    To: to,
    Subject: subject,
    Date: new Date().toUTCString().replace('GMT', '+0000'),
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Transfer-Encoding': '8bit',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value.replaceAll(/[\r\n]+/g, ' ')}`)
  return `${lines.join('\n')}\n\n${text}\n`
}
