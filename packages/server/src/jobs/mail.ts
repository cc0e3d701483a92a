import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../config.ts'

export interface Mail {
  to: string
  subject: string
  text: string
}

export type SendMail = (mail: Mail) => Promise<void>

/** Real mail by SMTP; without a server, files in the outbox folder of the data directory, for a person to read. */
export function openMail(config: Config): SendMail {
  if (config.smtpUrl === null) return outbox(join(config.dataDir, 'outbox'), config.mailFrom)
  const { smtpUrl, mailFrom: from } = config
  return async (mail) => {
    const transport = await loaded((createTransport) => createTransport(smtpUrl, { from }))
    await transport.sendMail(addressed(mail))
  }
}

/** The mail library is loaded with the first mail: most servers send few, and none while they start. */
const loaded = async <T>(use: (createTransport: typeof import('nodemailer').createTransport) => T): Promise<T> =>
  use((await import('nodemailer')).createTransport)

/** As an object the address is taken as it is; as a string it is parsed, and could be a list of several. */
const addressed = (mail: Mail) => ({ ...mail, to: { name: '', address: mail.to } })

function outbox(folder: string, from: string): SendMail {
  return async (mail) => {
    const transport = await loaded((createTransport) =>
      createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, { from }),
    )
    const { message } = await transport.sendMail(addressed(mail))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = `${new Date().toISOString().replaceAll(':', '-')}-${crypto.randomUUID().slice(0, 8)}.eml`
    await using file = await open(join(folder, name), 'wx', 0o600)
    await file.writeFile(message as Buffer)
  }
}
