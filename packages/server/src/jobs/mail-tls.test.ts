import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import { type MailServer, startMailServer } from '../../test/services/smtp.ts'
import { readConfig } from '../config.ts'
import { describe as describeError } from '../kernel/errors.ts'
import { type Mailer, openMailer } from './mail.ts'

const ca = readFileSync(new URL('../../test/tls/ca.pem', import.meta.url), 'utf8')
const trusted = `tls.servername=target.test&tls.ca=${encodeURIComponent(ca)}`
const mail = { to: 'ada@example.com', subject: 'A subject', text: 'A text' }
const password = 'hunter2 and more'

let server: MailServer
let mailer: Mailer
afterEach(async () => {
  await mailer.close()
  await server.close()
})

/** 0.0.0.0 reaches this machine, and is not a loopback address. */
function open(host: '0.0.0.0' | '127.0.0.1', query = '', settings: Record<string, string> = {}): void {
  const { port } = new URL(server.url)
  const url = `smtp://skerry:${encodeURIComponent(password)}@${host}:${port}?${query}`
  mailer = openMailer(readConfig({ SKERRY_SMTP_URL: url, ...settings }))
}

/** The log entry for the refusal. */
const refusal = (): Promise<Record<string, unknown>> =>
  mailer.send(mail).then(
    () => ({ reason: 'sent' }),
    (error) => describeError(error),
  )

const expectNothingSent = () => expect([server.received, server.passwords]).toEqual([[], []])

describe('an SMTP server on another machine', () => {
  test('that offers STARTTLS gets the password and the mail', async () => {
    server = await startMailServer({ startTls: 'offered' })
    open('0.0.0.0', trusted)
    await mailer.send(mail)
    expect(server.passwords).toEqual([password])
    expect(server.received.map(({ to }) => to)).toEqual([[mail.to]])
    expect(server.received[0]?.source).toContain('A text')
  })

  test.each(['', 'requireTLS=false', 'ignoreTLS=true', 'opportunisticTLS=true', 'secured=true'])(
    'whose STARTTLS offer is removed gets neither the password nor the mail, and the log names the setting: %s',
    async (query) => {
      server = await startMailServer({ startTls: 'stripped' })
      open('0.0.0.0', query)
      const { code, reason } = await refusal()
      expect([code, reason]).toEqual(['ETLS', expect.stringContaining('SKERRY_SMTP_CLEARTEXT=allow')])
      expectNothingSent()
    },
  )

  test('whose certificate is not trusted gets neither password nor mail', async () => {
    server = await startMailServer({ startTls: 'offered' })
    open('0.0.0.0', 'tls.servername=target.test')
    expect(String((await refusal()).reason)).toMatch(/certificate/)
    expectNothingSent()
  })

  test('gets mails without TLS if SKERRY_SMTP_CLEARTEXT allows it', async () => {
    server = await startMailServer({ startTls: 'stripped' })
    open('0.0.0.0', '', { SKERRY_SMTP_CLEARTEXT: 'allow' })
    await mailer.send(mail)
    expect(server.received).toHaveLength(1)
  })
})

test('an SMTP server on a loopback address needs no TLS', async () => {
  server = await startMailServer({ startTls: 'stripped' })
  open('127.0.0.1')
  await mailer.send(mail)
  expect(server.received).toHaveLength(1)
})

test('the log shows the code and the text of a refusal, without password, address or token', async () => {
  const passwordReply = `5.7.8 ${password} of ada@example.com is wrong, see token_ab12CD34ef56GH78ij90`
  server = await startMailServer({ passwordReply })
  open('127.0.0.1')
  expect(await refusal()).toEqual({
    error: 'ServiceError',
    code: 'EAUTH',
    reason:
      'the SMTP server refused the user or the password in SKERRY_SMTP_URL: 535 5.7.8 [redacted] of [address] is wrong, see [redacted]',
  })
  expect(server.received).toEqual([])
})
