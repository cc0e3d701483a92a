import { type Issuer, startIssuer } from '../../server/test/services/issuer.ts'
import { type Machine, newMachine } from './machine.ts'
import { openServer, type Server } from './server.ts'

/** A server, and the identity provider with which people sign in to it. */
export interface PeopleServer extends Server {
  issuer: Issuer
}

/** The part of such a server that a machine needs. */
type Reached = Pick<PeopleServer, 'url' | 'issuer'>

export async function openPeopleServer(more: Record<string, string> = {}, open = openServer): Promise<PeopleServer> {
  const issuer = await startIssuer(() => new Date())
  const server = await open({ SKERRY_OIDC_ISSUER: issuer.url, SKERRY_OIDC_AUDIENCE: issuer.audience, ...more })
  return {
    ...server,
    issuer,
    close: async () => {
      await server.close()
      await issuer.close()
    },
  }
}

export const passphrase = 'five random words of mine'

/** The machine of a person who has signed in. The person has no keys until `keys init` runs there. */
export interface PersonMachine extends Machine {
  email: string
  ok: (command: string) => Promise<string>
}

export async function newPersonMachine(
  server: Reached,
  email: string,
  url = server.url,
  options?: { cold: boolean },
): Promise<PersonMachine> {
  const machine = await newMachine(url, options)
  const bearer = await server.issuer.token({ sub: `sub-${email}`, email, email_verified: true })
  machine.env.SKERRY_TOKEN = bearer
  machine.env.SKERRY_KEYRING = 'off'
  return { ...machine, email, ok: (command) => ok(machine, command) }
}

/** A person with keys, whose passphrase is in a file as on a headless machine. */
export async function newKeyHolder(server: Reached, email: string, url = server.url): Promise<PersonMachine> {
  const person = await newPersonMachine(server, email, url)
  await person.write('../passphrase', `${passphrase}\n`)
  person.env.SKERRY_PASSPHRASE_FILE = `${person.home}/passphrase`
  await person.ok('skerry keys init')
  return person
}

/**
 * Runs `skerry login` on a machine, and approves or denies the printed code as that person. Returns how the command
 * ended.
 */
export async function signIn(
  server: PeopleServer,
  machine: Machine,
  email: string,
  decision: 'approve' | 'deny',
  options: string[] = [],
) {
  const { child, ended } = machine.start(['login', '--json', ...options])
  const code = await new Promise<string>((resolve, reject) => {
    let text = ''
    child.stderr!.on('data', (chunk) => {
      text += chunk
      const found = /code ([B-Z]{4}-[B-Z]{4})/.exec(text)
      if (found) resolve(found[1]!)
    })
    child.on('close', () => reject(new Error(text)))
  })
  await decide(server, email, code, decision)
  return ended
}

/** Approves or denies a code, as the person's browser does. */
export async function decide(server: Reached, email: string, code: string, decision: 'approve' | 'deny') {
  const bearer = await server.issuer.token({ sub: `sub-${email}`, email, email_verified: true })
  const headers = { authorization: `Bearer ${bearer}` }
  const answer = await fetch(`${server.url}/v1/cli-login/${code}/${decision}`, { method: 'POST', headers })
  if (!answer.ok) throw new Error(await answer.text())
}

/** Runs a command line that must succeed, and returns its stdout. */
export async function ok(machine: Machine, command: string): Promise<string> {
  const { code, stdout, stderr } = await machine.shell(command)
  if (code !== 0) throw new Error(`${command}: ${stderr}`)
  return stdout
}
