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
    // Loaded with the first mail: most servers send few, and none while they start.
    const { createTransport } = await import('nodemailer')
    // As an object the address is taken as it is; as a string it is parsed, and could be a list of several.
    await createTransport(smtpUrl, { from }).sendMail({ ...mail, to: { name: '', address: mail.to } })
  }
}

function outbox(folder: string, from: string): SendMail {
  return async (mail) => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const name = `${new Date().toISOString().replaceAll(':', '-')}-${crypto.randomUUID().slice(0, 8)}.eml`
    await using file = await open(join(folder, name), 'wx', 0o600)
    await file.writeFile(readable(mail, from))
  }
}

/** A message that is as readable in a terminal as in a mail program: unencoded, with no link broken in two. */
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
