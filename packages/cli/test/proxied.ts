import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Machine, newMachine } from './machine.ts'
import { newKeyHolder, openPeopleServer, type PersonMachine } from './people.ts'

/** The value of API_KEY. */
export const planted = 'planted-5d1c7e-value'

/** A real server, an admin who signs policies, a machine with only a bound token, and an upstream. */
export interface Proxied {
  alice: PersonMachine
  machine: Machine
  /** The origin of the upstream. */
  origin: string
  got: { url: string; authorization: string | undefined }[]
  close: () => Promise<void>
}

export async function openProxied(options?: { cold: boolean }): Promise<Proxied> {
  const got: Proxied['got'] = []
  const upstream = createServer((request, response) => {
    got.push({ url: request.url!, authorization: request.headers.authorization })
    response.end('fine')
  })
  await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done))
  const server = await openPeopleServer()
  const alice = await newKeyHolder(server, 'alice@example.com')
  await alice.ok('skerry keys unlock && skerry org create Proxied && skerry init --yes --env development')
  await alice.ok(
    `printf %s '${planted}' | skerry secrets set API_KEY && printf %s other-value | skerry secrets set OTHER_KEY`,
  )
  const token = await alice.ok('skerry token create proxy --env development')
  const machine = await newMachine(server.url, options)
  machine.env.SKERRY_TOKEN = token.trim().split('\n').at(-1)!
  return {
    alice,
    machine,
    origin: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
    got,
    close: async () => {
      await alice.shell('skerry keys lock')
      await Promise.all([alice.remove(), machine.remove()])
      upstream.close()
      await server.close()
    },
  }
}

export const local = '[egress]\nallow_cidr = ["127.0.0.0/8"]\n[forward]\nlisten = "127.0.0.1:0"\n'
export const fileRules = `${local}[[forward.host]]\nmatch = "127.0.0.1"\nports = ["1-65535"]\nallow = ["API_KEY"]\n`
