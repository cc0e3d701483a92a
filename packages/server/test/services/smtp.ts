import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { SMTPServer } from 'smtp-server'

interface ReceivedMail {
  from: string
  to: string[]
  /** Headers and text, with lines ended by `\n`. */
  source: string
}

export interface MailServer {
  url: string
  received: ReceivedMail[]
  /** Mails that have arrived but are not accepted yet, because of `hold`. */
  held: ReceivedMail[]
  hold(): void
  release(): void
  /** How many of the next mails it refuses with 451, "try later". */
  turnAway: number
  /** The passwords that clients sent. */
  passwords: string[]
  close(): Promise<void>
}

interface MailServerOptions {
  port?: number
  /** `offered`: with a certificate of test/tls. `stripped`: an attacker removes the offer and refuses the command. */
  startTls?: 'offered' | 'stripped'
  /** The error text for every password. If it is set, the server requires a password. */
  passwordReply?: string
}

const tlsFile = (name: string) => readFileSync(new URL(`../tls/${name}`, import.meta.url))

/** Returns the text of a mail as its reader sees it, with quoted-printable decoded. */
export function textOf(source: string): string {
  const joined = source.slice(source.indexOf('\n\n') + 2).replace(/=\n/g, '')
  if (!/^content-transfer-encoding: quoted-printable$/im.test(source)) return joined
  const bytes = joined.replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString()
}

/** A real SMTP server on loopback. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { port = 0, startTls, passwordReply } = options
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  const smtp = new SMTPServer({
    disabledCommands: [
      ...(startTls === 'offered' ? [] : ['STARTTLS']),
      ...(startTls === undefined && passwordReply === undefined ? ['AUTH'] : []),
    ],
    ...(startTls === 'offered' ? { key: tlsFile('target.key'), cert: tlsFile('target.pem') } : {}),
    authOptional: passwordReply === undefined,
    allowInsecureAuth: true,
    onAuth({ password }, _session, callback) {
      mails.passwords.push(password ?? '')
      if (passwordReply === undefined) return callback(null, { user: 'someone' })
      callback(Object.assign(new Error(passwordReply), { responseCode: 535 }))
    },
    onMailFrom(_address, _session, callback) {
      if (mails.turnAway === 0) return callback()
      mails.turnAway--
      callback(Object.assign(new Error('try later'), { responseCode: 451 }))
    },
    onData(stream, { envelope }, callback) {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', async () => {
        const mail = {
          from: envelope.mailFrom ? envelope.mailFrom.address : '',
          to: envelope.rcptTo.map(({ address }) => address),
          source: Buffer.concat(parts).toString().replaceAll('\r\n', '\n'),
        }
        mails.held.push(mail)
        await gate.promise
        mails.held.splice(mails.held.indexOf(mail), 1)
        mails.received.push(mail)
        callback()
      })
    },
  })
  await new Promise<void>((resolve) => smtp.listen(port, '127.0.0.1', resolve))
  const mails: MailServer = {
    url: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
    received: [],
    held: [],
    hold() {
      gate = Promise.withResolvers()
    },
    release: () => gate.resolve(),
    turnAway: 0,
    passwords: [],
    close: () => new Promise((resolve) => smtp.close(() => resolve())),
  }
  return mails
}
