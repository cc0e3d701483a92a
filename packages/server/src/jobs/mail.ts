import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { createTransport } from 'nodemailer'
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
  const transport = createTransport(config.smtpUrl, { from: config.mailFrom })
  return async (mail) => {
    await transport.sendMail(addressed(mail))
  }
}

/** As an object the address is taken as it is; as a string it is parsed, and could be a list of several. */
const addressed = (mail: Mail) => ({ ...mail, to: { name: '', address: mail.to } })

function outbox(folder: string, from: string): SendMail {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, { from })
  return async (mail) => {
    const { message } = await transport.sendMail(addressed(mail))
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = `${new Date().toISOString().replaceAll(':', '-')}-${crypto.randomUUID().slice(0, 8)}.eml`
    await using file = await open(join(folder, name), 'wx', 0o600)
    await file.writeFile(message as Buffer)
  }
}
