import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { words } from '@skerry/crypto/words'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isQuick } from '../../server/test/extent.ts'
import { type AppPlatform, startAppPlatform } from '../../server/test/services/app-platform.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../../server/test/services/webhook-receiver.ts'
import { type LeaseScene, missingForLeases, openLeaseScene } from './lease-scene.ts'
import { type Machine, newMachine } from './machine.ts'
import { openPeopleServer, type PeopleServer } from './people.ts'
import { openServerProcess } from './server.ts'
import { newVaultAdmin } from './vaulted.ts'

// Each file of transcripts/ contains shell sessions, each on a new machine and against a real server:
//
//   # a guarantee, which is the title of the test
//   $ a command line
//   a line of stdout
//   ! a line of stderr
//   = the exit code, if it is not 0
//
// Parts that differ between runs are written as <url>, <id>, <time>, <secret>, <home>. SKERRY_WRITE_TRANSCRIPTS=1
// writes the files again, for a person to read and judge. $ALICE, $BOB and $CAROL are credentials of signed-in people.
// $PLATFORM is the credential of a platform to which secrets are pushed. $RECEIVER receives webhooks. $VAULT_ADMIN is
// the credential of an admin whose vault has some content. The sessions of leases.txt also have a database and a host.

const folder = fileURLToPath(new URL('./transcripts', import.meta.url))
const authority = fileURLToPath(new URL('../../server/test/tls/ca.pem', import.meta.url))
/** In `npm test`: the first sessions. The other files are about features that suites of their own prove. */
const quick = ['quick-start', 'secrets', 'trust'].map((name) => `${name}.txt`)
const files = readdirSync(folder).filter((file) => file.endsWith('.txt') && (!isQuick || quick.includes(file)))

interface Session {
  title: string
  commands: string[]
  expected: string
}

let server: PeopleServer
let platform: AppPlatform
let receiver: WebhookReceiver
beforeAll(async () => {
  platform = await startAppPlatform()
  receiver = await startWebhookReceiver()
  server = await openPeopleServer({ ...platform.settings, NODE_EXTRA_CA_CERTS: authority }, openServerProcess)
})
afterAll(async () => {
  await server.close()
  await platform.stop()
  await receiver.close()
})

describe.skipIf(isQuick || missingForLeases())('leases.txt', () => {
  let leases: LeaseScene
  beforeAll(async () => {
    leases = await openLeaseScene()
  })
  afterAll(() => leases.close())
  playAll('leases.txt', (machine) => leases.furnish(machine))
})

describe.each(files.filter((file) => file !== 'leases.txt'))('%s', (file) => playAll(file))

function playAll(file: string, furnish?: (machine: Machine) => Promise<void>): void {
  const path = join(folder, file)
  const sessions = parse(readFileSync(path, 'utf8'))
  const played: string[] = []
  afterAll(() => {
    if (process.env.SKERRY_WRITE_TRANSCRIPTS) writeFileSync(path, `${played.join('\n')}`)
  })

  it.each(sessions)('$title', async ({ title, commands, expected }) => {
    const machine = await newMachine(server.url)
    await addPeople(machine)
    machine.env.PLATFORM = platform.token
    machine.env.RECEIVER = receiver.url
    if (commands.some((line) => line.includes('$VAULT_ADMIN'))) machine.env.VAULT_ADMIN = await newVaultAdmin(server)
    await furnish?.(machine)
    try {
      const text = await play(machine, title, commands)
      played.push(text)
      if (!process.env.SKERRY_WRITE_TRANSCRIPTS) expect(text).toBe(expected)
    } finally {
      await machine.remove()
    }
  })
}

let people = 0

/** Adds three new people to each session. */
async function addPeople(machine: Machine): Promise<void> {
  people++
  for (const name of ['alice', 'bob', 'carol']) {
    const email = `${name}-${people}@example.com`
    machine.env[name.toUpperCase()] = await server.issuer.token({ sub: `sub-${email}`, email, email_verified: true })
    machine.env[`${name.toUpperCase()}_EMAIL`] = email
  }
}

async function play(machine: Machine, title: string, commands: string[]): Promise<string> {
  let text = `# ${title}\n`
  for (const command of commands) {
    const { code, stdout, stderr } = await machine.shell(command)
    text += `$ ${command}\n`
    for (const line of linesOf(stdout)) text += `${steady(line, machine)}\n`
    for (const line of linesOf(stderr)) text += `! ${steady(line, machine)}\n`
    if (code !== 0) text += `= ${code}\n`
  }
  return text
}

function linesOf(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : `${text}\\`).split('\n')
}

/**
 * Replaces the parts of a line that differ between runs. Columns are as wide as their cells, so blanks after a cell
 * shrink.
 */
function steady(line: string, machine: Machine): string {
  return (
    line
      .replaceAll(server.url, '<url>')
      .replaceAll(new URL(server.url).host, '<host>')
      .replaceAll(machine.home, '<home>')
      .replaceAll(receiver.url, '<receiver>')
      .replace(/(key +)[\w-]{43}$/, '$1<thumbprint>')
      .replace(/(?:skt_\w{22}_|whsec_)[\w-]{40,}/g, '<secret>')
      .replace(/\b([a-z0-9]{2,3}_)[0-9A-Za-z]{22}\b/g, '<$1id>')
      .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '<time>')
      .replace(/\b(alice|bob|carol)-\d+@/g, '$1@')
      .replace(/(?:\b[a-z]+ ){11}[a-z]+\b/g, (text) =>
        text.split(' ').every((one) => words.includes(one)) ? '<words>' : text,
      )
      .replace(/CLI on [^"]+?(?= {2}|"|$|\))/g, 'CLI on <host>')
      .replace(/\blease_[a-z0-9]{16}\b/g, '<account>')
      .replace(/PostgreSQL [\d.]+(?: \(.*?\))?/g, 'PostgreSQL <version>')
      .replace(/SHA256:[\w+/]{43}/g, '<fingerprint>')
      // The number has 64 random bits: one in 18,000 has fewer than 16 digits.
      .replace(/\b\d{10,20}\b/g, '<serial>')
      .replace(/in \d+ ms/g, 'in <n> ms')
      .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, '<key>')
      .replace(/\d+ bytes, \d+ lines/g, '<n> bytes, <n> lines')
      .replace(/(proxy: http:\/\/127\.0\.0\.1:)\d+/, '$1<port>')
      .replace(/copy of \d+ s ago/g, 'copy of <n> s ago')
      .replace(/signed \d+ s ago/g, 'signed <n> s ago')
      .replace(/ {2,}/g, '  ')
      .replace(/ +$/, '')
  )
}

function parse(text: string): Session[] {
  return text
    .split(/^(?=# )/m)
    .filter((part) => part.startsWith('# '))
    .map((part) => {
      const lines = part.split('\n')
      const commands = lines.filter((line) => line.startsWith('$ ')).map((line) => line.slice(2))
      return { title: lines[0]!.slice(2), commands, expected: `${part.trimEnd()}\n` }
    })
}
